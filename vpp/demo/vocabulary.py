"""Words that mean something to the reader: names made of them are written in quotes."""

_WORDS = """
    a about above abs absent absolute add adding adjacent after alike all also always among amount an and
    another answer any anything anywhere appear appears approx approximately are aren arithmetic around array as
    ascending ask assign at available average backwards be because before begin being belongs below between
    beyond bigger biggest blank both boundary bpredict but by calculate calculated call called case cases
    category center centered centre centred characters check choose circle circular class classes classification
    classify closer column columns comes comparison compute computed condition congruent consecutive consider
    consists contain contained containing contains coordinate coordinates copies copy correct cos cosine could
    count counting cube cubed data decide decides decision decreasing default denote descending described
    designed determine difference different digit digits distance distinct divide divided divisible division do
    does doesn don double draw duplicate duplicates each ee eight eighth eights either element elements eleven
    elif else elsewhere empty entire entries entry equal equals estimate euclidean even evenly evens every
    everything exactly exceed exceeding exceeds except excl excluded exclusive exclusively exists exp
    exponential factor failing falls farther feature features fewer fifth final find first five fives for
    forwards found four fours fourth from function further gave ge get give given gives goal greater greatest
    half happens has have here higher highest hint holds how identical if imagine in include included includes
    inclusive inclusively increasing initial input inputs inside instance instances integer integers interval is
    isn it item items its itself just known label labels larger largest last lays le learner least leaves left
    length less let lies line list ln log logarithm long longer look low lower lowest make many matter max
    maximum mean means measure measured member members min minimum minus missing mod model modulo more most
    multiple multiples multiplied multiply multiplying must name named names natural nearer nearly negative
    neighbor neighboring neighbors neighbour neighbouring neighbours neither never new next nine nines ninth no
    non nondecreasing none nonincreasing nonzero not note noun number numbers occur occurrence occurrences
    occurs odd odds of on once one ones only open or order origin other otherwise out outcome output outputs
    outside over pair pairwise palindrome part penultimate pi please plus point positive power precisely predict
    predicted prediction present prior product provided put radius raised range read reads regardless remainder
    remaining repeat repeated repeats report respond rest result return reversed right root roughly row rule s
    same say second seed seem sentence sentences separated sequence series set seven sevens seventh shorter
    should simply sin since sine single six sixes sixth skip smaller smallest so some something somewhere sorted
    speaks split spread sqrt square squared start stays stop straight strictly string subtract sum symbol t take
    tan tangent target task ten term terms text than that the their them then there these they third this those
    three threes thrice time times to together total triple true tuple turns twelve twice two twos type under
    unequal unique unit unknown unless until up upon use value values variable was we were what whatever when
    whenever where whether which while who whole whose will with within word work xyz you your zero zeroes zeros
"""

RESERVED = frozenset(_WORDS.split())
"""In lower case. The letters x, y and z are none of them: they are read as columns."""
