"""Reads the label that an explanation asserts, for answers without an `Output:` line.

A label counts only if it is the one known label that the text mentions, in any clause, and a sentence asserts it: "the
output is X", "the rule predicts 'X'", "so it is X", "so answer X", "-> X" at the end, or a last sentence such as "The
student is X".
Conditions ("if … then X"), negations, questions, doubts and restated rules assert nothing. Labels that are numbers need
an assertion directly before them. So do yes, no, true and false, which also answer questions about a condition.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from vpp.data.answers import read_float

TEXT_LIMIT = 8_000
"""Maximum characters of a text that is read."""
LABELS_LIMIT = 20_000
"""Maximum characters of all labels together."""
_TRUTH_WORDS = frozenset(("yes", "no", "true", "false", "y", "n", "t", "f"))
_LABEL = "\ue000"
"""Replaces the label in a sentence, so that the patterns below need not know it."""


def asserted_label(text: str, classes: tuple[str, ...]) -> str | None:
    """Return the one label that `text` mentions if a sentence asserts it, else None."""
    mentioned = mentioned_labels(text, classes)
    if len(mentioned) != 1 or _LABEL in text:
        return None
    (label,) = mentioned
    marked = _mention(classes).sub(_LABEL, text)
    sentences = [_SO_OTHERWISE.sub("so ", _HEADING.sub("", part).strip()) for part in _SENTENCE_END.split(marked)]
    sentences = [sentence for sentence in sentences if sentence.strip(" *_`#>-|<")]
    if any(_DENIED.search(sentence) for sentence in sentences):
        return None
    is_truth = is_truth_word(label)
    # Text may say `true` of a condition, or name a number of the row: only direct forms (`the output is 1`) assert
    # these, and `true` only in sentences about the output.
    asserting = _about_output(sentences) if is_truth else sentences
    is_direct = is_truth or read_float(label) is not None
    return label if _is_asserted(asserting, sentences, is_direct=is_direct) else None


def is_truth_word(label: str) -> bool:
    """Return whether the label may also say whether a condition holds."""
    return _folded(label) in _TRUTH_WORDS


def mentioned_labels(text: str, classes: tuple[str, ...]) -> set[str]:
    """Return the labels that `text` has as whole words; of overlapping ones, the longest.

    Empty if the text or the labels are too long to search.
    """
    if len(text) > TEXT_LIMIT or sum(map(len, classes)) > LABELS_LIMIT:
        return set()
    named = {_folded(match["label"]) for match in _mention(classes).finditer(text)}
    return {label for label in classes if _folded(label) in named}


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()


@lru_cache(maxsize=64)
def _mention(classes: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of any label with the quotes and markup around it."""
    labels = sorted((label for label in classes if label.strip()), key=len, reverse=True)
    words = "|".join(_whole_word(label) for label in labels) or r"(?!)"
    return re.compile(rf"[*_`\"'“‘«\[]{{0,4}}(?P<label>{words})[*_`\"'”’»\]]{{0,4}}", re.IGNORECASE)


def _whole_word(label: str) -> str:
    """Return a pattern of the label that does not match inside a longer word or number."""
    words = r"\s+".join(map(re.escape, label.split()))
    if read_float(label) is not None:
        return rf"(?<![\w.,+\-−]){words}(?!\w|[.,]\d)"
    before, after = label.split()[0][0], label.split()[-1][-1]
    return (r"(?<!\w)" if before.isalnum() else "") + words + (r"(?!\w)" if after.isalnum() else "")


# --- sentences ----------------------------------------------------------------------------------------------------

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)*_]{0,3}\s+|\n+")
_HEADING = re.compile(
    r"^[\s>#*_\-`•]{0,12}(?:(?:\d{1,2}[.)]|step \d{1,2}[:.]?)\s{0,3})?[*_`]{0,3}"
    r"(?:(?:explanation|reasoning|reason|output|answer|conclusion|note)\s{0,3}[*_`]{0,3}\s{0,3}[:：][*_`]{0,3}\s{0,3})?",
    re.IGNORECASE,
)
_SO_OTHERWISE = re.compile(r"^so,? (?:otherwise|else),? (?=answer\b)", re.IGNORECASE)
"""`So otherwise, answer B`: with these words the worked examples name the part that applies, which is no condition."""
_NEGATION = (
    r"\b(?:not|no|never|neither|nor|cannot|without|fails?|failed|unlikely|rather than|instead of|opposite|incorrect|"
    r"incorrectly|wrong|wrongly|falsely|mistakenly|erroneously)\b|n['’]t\b|\bnon-"
)
_DOUBT = (
    r"\b(?:could|might|may|maybe|perhaps|possibly|probably|likely|unclear|unsure|suppos\w{1,4}|assum\w{1,4}|either|any|"
    r"every|everyone|anyone|always|whoever|those|example|e\.g)\b"
)
_DENIED = re.compile(
    rf"(?:\b(?:not|never|cannot be|isn['’]t|wasn['’]t|aren['’]t|neither|nor|no longer|rather than|instead of)\s"
    rf"(?:\w+\s){{0,2}}|\bnon-){_LABEL}",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(r"\b(?:if|when|whenever|unless|whether|otherwise|else|except|iff)\b", re.IGNORECASE)
_RESTATED = re.compile(
    r"^(?:the )?(?:\w+ )?(?:rule|hypothesis|pattern|condition)s?\s?[:：]"
    r"|\b(?:rule|hypothesis|pattern|condition)s? "
    r"(?:is (?:that|to|as)|says|said|states|reads|requires|specifies|implies|means)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(f"{_NEGATION}|{_DOUBT}", re.IGNORECASE)
_CLAUSE_END = re.compile(
    r"[,;:(]|\b(?:so|therefore|thus|hence|consequently|because|since|as|which|and|then)\b", re.IGNORECASE
)
_RETRACTED = re.compile(
    r"\b(?:however|but|wait|actually|instead|incorrect|wrong|mistaken?|contradicts?|contradiction)\b"
    r"|\b(?:this|that|which|it)(?: is|['’]s) (?:false|an error|not (?:correct|right|true|the case))\b",
    re.IGNORECASE,
)

_ASKING = re.compile(r"\?|\b(?:conditions?|criteri(?:on|a)|clauses?|tests?|checks?|part)\b", re.IGNORECASE)
"""Signs of a text that checks conditions."""
_ANSWERED = re.compile(r"(?<!final )(?<!predicted )\b(?:answer|outcome|decision|conclusion)\b", re.IGNORECASE)
"""Words for a result, which a condition may have as well as the rule."""


def _about_output(sentences: list[str]) -> list[str]:
    """Return the sentences, empty if they may answer a question about a condition."""
    asks = any(_ASKING.search(sentence) for sentence in sentences)
    last = len(sentences) - 1
    return [
        "" if "?" in sentence or "?" in before or (_ANSWERED.search(sentence) and (asks or place < last)) else sentence
        for place, (before, sentence) in enumerate(zip(["", *sentences], sentences, strict=False))
    ]


def _is_asserted(asserting: list[str], sentences: list[str], *, is_direct: bool) -> bool:
    """Return whether one of the asserting sentences asserts the label and no later text takes that back."""
    for place, sentence in enumerate(asserting):
        is_last = place == len(sentences) - 1
        rest = " ".join(sentences[place + 1 :])
        for end in _assertions(sentence, is_last=is_last, is_direct=is_direct):
            if not _RETRACTED.search(f"{sentence[end:]} {rest}"):
                return True
    return False


def _assertions(sentence: str, *, is_last: bool, is_direct: bool) -> Iterator[int]:
    """Yield the end of each assertion of the label in the sentence."""
    if sentence.endswith("?") or _CONDITIONAL.search(sentence) or _RESTATED.search(sentence):
        return
    patterns = (*_DIRECT, *(() if is_direct else _LOOSE), *(_LAST if is_last and not is_direct else ()))
    for match in (match for pattern in patterns for match in pattern.finditer(sentence)):
        begin = max((mark.end() for mark in _CLAUSE_END.finditer(sentence, 0, match.start())), default=0)
        if not _UNSURE.search(sentence, begin, match.end()):
            yield match.end()


# --- assertions ---------------------------------------------------------------------------------------------------

_AFTER = (
    r"(?=\s*(?:$|[.!;:)](?!\w)|,(?!\s(?:or|and|nor)\b))"
    r"|\s(?:because|since|as|here|given|based|according|due to|label|class|output|category|in this case|"
    r"for (?:this|the|that|it)|by the rule|to (?:this|the))\b)"
)
"""Match after an asserted label: the end of its clause, or a reason."""
_THING = (
    r"(?:(?:(?:final|correct|predicted|expected|resulting|right|appropriate|corresponding) )?"
    r"(?:output|answer|label|class|prediction|outcome|classification|category|decision|conclusion)"
    r"(?: (?:label|value|class|output))?|(?:predicted|target) value)"
)
_OF_THIS = r"(?: (?:for|of|to) (?:(?:this|the|that|our)(?: [\w\-]{1,40}){1,3}?|[\w\-]{1,40}))?"
_IS = r"(?: (?:is|will be|would be|should be|must be|becomes|remains)|\s?[:=])"
_SURELY = r"(?: (?:therefore|thus|also|then|clearly|indeed|simply|still))?[,:]?"
_NAMED = r"\s+(?:(?:the|a|an) )?(?:(?:label|class|category|output|value)(?: of)? )?"
_SO = (
    r"(?:so|therefore|thus|hence|consequently|accordingly|in conclusion|as a result|this means|which means|it follows)"
)


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b{words}{_LABEL}{_AFTER}", re.IGNORECASE)


_DIRECT = (
    _pattern(rf"(?:the|its|this|my|our) {_THING}{_OF_THIS}{_IS}{_SURELY}{_NAMED}"),
    _pattern(
        r"(?:the|this|our|current|given) (?:rule|hypothesis|model|pattern)"
        r"(?: (?:correctly|therefore|thus|then|also|would|will|should|clearly|indeed))?"
        r"(?: (?:correctly|therefore|thus|then))? "
        r"(?:predict(?:s|ed)?|gives?|gave|outputs?|returns?|yields?|produces?|assigns?)"
        rf"(?: that {_THING}{_IS}| (?:the|an?) {_THING}(?: (?:of|is|as))?|:)?{_NAMED}"
    ),
    _pattern(
        r"(?:is|be|was|it|row|input|this) (?:therefore |thus |then |correctly )?"
        r"(?:classified|labell?ed|predicted|categori[sz]ed|assigned)(?: (?:as|to be|to|with))?" + _NAMED
    ),
    _pattern(rf"(?:we|I)(?: (?:therefore|thus|would|will|should|can))? (?:predict|answer|output|assign){_NAMED}"),
)
"""Assertions with the label directly after them."""
_LOOSE = (
    _pattern(rf"{_SO},?(?: [\w'’\-]{{1,40}}){{0,8}}? (?:is|was|be|as|gets?|becomes)(?: an?)?(?: {_THING})?\s+"),
    _pattern(rf"{_SO},?\s+"),
)
_LAST = (
    _pattern(rf"{_SO},? answer\s+"),
    re.compile(rf"^(?!.*\b(?:rule|hypothesis|pattern)\b).*(?:->|→|=>|⇒|⟹)\s*{_LABEL}[\s.!*_`]*$", re.IGNORECASE),
    re.compile(
        rf"(?:^|(?<=[,;] ))(?:{_SO},? )?(?:the|this|it|he|she|its|his|her)"
        rf"(?: (?!(?:for|with|who|whose|that|where|having)\b)[\w\-]{{1,40}}){{0,5}}"
        rf" (?:is|was|will be|should be|must be|gets)(?: therefore| thus| then)?(?: an?| the)?\s+{_LABEL}{_AFTER}",
        re.IGNORECASE,
    ),
    re.compile(rf"^{_LABEL}[\s.!*_`]*$"),
)
"""Assertions of a last sentence."""
