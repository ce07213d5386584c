"""What may run outside the sandbox: ordinary programs may, and none that reaches further or takes long."""

import pytest

from vpp.programs.columns import Type
from vpp.programs.source import Program, ProgramFault, read_program
from vpp.programs.strict import strict_fault

TYPES: dict[str, Type] = {
    "age": "number",
    "fare": "number",
    "town": "text",
    "items": "numbers",
    "note": "prose",
    "max": "number",
}

ORDINARY = (
    "def predict(age):\n return 'yes' if age >= 18 else 'no'",
    "def predict(age, town):\n if town == 'Rome' and (age > 30 or age < 5): return 'yes'\n return 'no'",
    "import math\n\ndef predict(age, fare):\n return 2.5 * age - 0.5 * fare ** 2 + math.sin(math.pi * age) / 3",
    "def predict(age, fare):\n if sum(x is not None and x > 5 for x in (age, fare)) > 1: return 'yes'\n return 'no'",
    "def predict(items):\n return 'yes' if any(a == b for a, b in zip(items, items[1:])) else 'no'",
    "def predict(items):\n for i in range(len(items) - 1):\n  if items[i] > items[i + 1]: return 'no'\n return 'yes'",
    "def predict(items):\n count = 0\n for x in items:\n  if x % 2 == 0: count += 1\n"
    " return 'yes' if count >= len(items) / 2 else 'no'",
    "def predict(items):\n best, run = 0, 0\n for at, x in enumerate(items):\n"
    "  run = run + 1 if at and x == items[at - 1] else 1\n  best = max(best, run)\n"
    " return 'yes' if best >= 3 else 'no'",
    "def predict(items):\n total = 0\n for x in items: total += x * 2\n return total",
    "def predict(items):\n return 'yes' if len(set(items)) == len(items) and sorted(items) == items else 'no'",
    "def predict(items):\n return sum(items) / len(items)",
    "def predict(items):\n return 'yes' if items == items[::-1] else 'no'",
    "def predict(town):\n return 'yes' if town.lower().strip().startswith(('r', 'm')) else 'no'",
    "def predict(note):\n words = note.lower().split()\n"
    " return 'yes' if len(words) > 10 and 'price' in words else 'no'",
    "def predict(note):\n"
    " return 'yes' if note is not None and note.count('!') > 2 and not note.replace(',', '').isdigit() else 'no'",
    "def predict(town, age):\n points = {'Rome': 2, 'Milan': 1}.get(town, 0)\n"
    " if age is not None and age > 60: points += 1\n return 'yes' if points >= 2 else 'no'",
    "def predict(age, fare):\n score = 0\n if age > 40: score += 2\n elif age > 20: score += 1\n"
    " score -= fare < 10\n return 'yes' if score > 1 else 'no'",
    "def predict(age):\n return round(abs(age) ** 0.5, 2)",
    "def predict(age, fare):\n return min(max(age, fare), 100) // 3",
    "def predict(items):\n odd = [x for x in items if x % 2]\n return odd[0] if odd else 0",
    "def predict(items):\n return 'yes' if all(items.count(x) == 1 for x in items) else 'no'",
    "def predict(items):\n pairs = 0\n for i in range(len(items)):\n  for j in range(i + 1, len(items)):\n"
    "   if items[i] + items[j] == 10: pairs += 1\n return pairs",
    "def predict(age: int, town: str) -> str:\n 'A rule.'\n limit: float = 3.5\n return 'yes' if age > limit else 'no'",
    "def predict(age):\n total = 0.0\n for n in range(1, 21): total += age / n\n return total",
    "def predict(town):\n return str(town)[0].upper() if town else 'none'",
    "def predict(fare):\n low, high = (10, 20) if fare else (0, 5)\n return 'yes' if low <= fare <= high else 'no'",
    "def predict(items):\n seen = {x: items.count(x) for x in items}\n return max(seen.values())",
    "def predict(items):\n last = None\n for x in reversed(items):\n  if last is not None and x <= last:\n"
    "   break\n  last = x\n else: return 'yes'\n return 'no'",
    "def predict(age, items):\n a, b = 1, 1\n for _ in range(20):\n  a, b = b, a + b\n"
    " return a * age + math.prod(items)",
    "def predict(town):\n return 'yes' if town in ('Rome', 'Milan') else 'no'",
)

HOSTILE = {
    # Ways to the interpreter.
    "return ().__class__.__base__.__subclasses__()": "the attribute .__subclasses__ is",
    "return age.real.__class__": "the attribute .__class__ is",
    "return age.ｒeal.__cl𝐚ss__": "the attribute .__class__ is",
    'return "{0.__class__}".format(age)': "the attribute .format is",
    'return "%s" % town': "% of what may be a text",
    "return f'{town!r:>999999999}'": "an f-string is",
    "return __builtins__": "the name __builtins__ is",
    "return __ｉmport__('os')": "a call of __import__ is",
    "import os\n    return os.getcwd()": "an import other than “import math” is",
    "import math as m\n    return m.pi": "an import other than “import math” is",
    "from os import system\n    return system('id')": "an import other than “import math” is",
    "return math.__loader__": "the attribute .__loader__ is",
    "return math.sqrt.__self__.__dict__": "the attribute .__dict__ is",
    "math = town\n    return math.lower()": "the name math is",
    "return open('/etc/passwd').read()": "the attribute .read is",
    "return [open for open in [1]] and open": "the name open is",
    "return open": "the name open is",
    "return eval(town)": "a call of eval is",
    "return getattr(town, 'for' + 'mat')(age)": "a call of getattr is",
    "return min(items, key=open)": "this named argument of min is",
    "return sorted(items, key=lambda x: x)": "a lambda is",
    "return max(max, 3)": "a call of max is",
    "return (lambda: 1)()": "a lambda is",
    "x = len\n    return x(town)": "the name len is",
    "def inner():\n        return 1\n    return inner()": "a statement of this kind is",
    "class A: pass\n    return 1": "a class is",
    "global age\n    return 1": "global is",
    "del age\n    return 1": "delete is",
    "try:\n        return 1\n    except Exception:\n        return 2": "try is",
    "with town:\n        return 1": "with is",
    "yield 1\n    return 1": "yield is",
    "match town:\n        case str(upper=x):\n            return x\n    return 1": "match is",
    "x: print(1) = 2\n    return x": "a type hint other than a plain one is",
    "return (x := 1)": "an assignment inside an expression (:=) is",
    "return max(*items)": "a star before a value is",
    "return {**town}": "a star before a value is",
    "age.x = 1\n    return 1": "a value that is changed in place is",
    "items[0] = 1\n    return 1": "a value that is changed in place is",
    "items += [1]\n    return 1": "a list that is changed in place is",
    "return b'x'": "a value of type bytes is",
    "return 1j": "a value of type complex is",
    "return ask('is it so?', note)": "it asks the model about a text",
    "return predict(age)": "a call of predict is",
    # Ways to take long, or all memory.
    "while True: pass\n    return 1": "a while loop is",
    "return math.factorial(10 ** 9)": "the attribute .factorial is",
    "return 2 ** age": "** is allowed only with",
    "return 9 ** 9 ** 9": "** is allowed only with",
    "a = age ** 64\n    b = a ** 64\n    return b": "a value that can become very large is",
    "return 'a' * 10 ** 9": "* of what may be a text",
    "return town * age": "* of what may be a text",
    "n = 1\n    g = (age * n for i in items)\n    n = note\n    return max(g)": "a generator outside",
    "n = 1\n    for t in (age * n for i in items): n = note\n    return t": "a generator outside",
    "n = 1\n    g = zip((age * n for i in items))\n    n = note\n    return max(g)": "a generator outside",
    "return [0] * age": "* of what may be a text",
    "return items * 99": "* of what may be a text",
    "return math.prod([town, age])": "a product of what may be a text",
    "for t in town: pass\n    for t in [x for x in items if 0]: pass\n    return t * age": "* of what may be",
    "return sum(1 for a in range(10 ** 9))": "a range of more than 10,000",
    "return sum(1 for a in range(age))": "a range without a bound",
    "return sum(1 for a in range(9999) for b in range(9999))": "more than 1,000,000 steps",
    "return [[a for a in items] for b in items for c in items if sum(items)]": "more than 30,000 rounds",
    "for a in items:\n        for b in items:\n            for c in items: pass\n    return 1": "rounds",
    "for a in range(9000):\n        if sorted(range(9000)) == a: break\n    return 2": "steps for a row",
    "t = town\n    for a in items:\n        t = t + t\n    return t": "a value that grows in a loop is",
    "n = 2\n    for a in items:\n        n *= n\n    return n": "a value that grows in a loop is",
    "t = ()\n    for a in items:\n        t = (t, t)\n    return t == t": "a value that grows in a loop is",
    "t, u = town, town\n    for a in items:\n        t, u = u, t + u\n    return t": "a value that grows in a loop is",
    "return town.replace('', 'aaaa')": "replace is allowed only",
    "return town.replace('a', note)": "replace is allowed only",
    "return town.ljust(10 ** 9)": "the attribute .ljust is",
    "return round(age, -10 ** 9)": "round is allowed only to",
    "return round(1, -999999999)": "round is allowed only to",
    "return sum([items], [])": "a sum that does not begin with a number",
    "return int('9' * 9999)": "* of what may be a text",
    "return 1 << age": "the operator LShift is",
    "return enumerate(items, 10 ** 9) and [range(i) for i, x in enumerate(items, 10 ** 9)]": "a range without a bound",
    "return sum(1 for a in range(5 % -age))": "a range without a bound",
    f"return {'9' * 4000}": "a number of more than 18 digits is",
    f"return {'(' * 300}1{',)' * 300}": "nested too deeply",
}
"""Bodies of predict(age, town, items, note, max), and the reason."""


def program(code: str) -> Program:
    """A program as a journal has it. A hostile one may not have passed the reader."""
    try:
        return read_program(code, tuple(TYPES), frozenset({"note"}))
    except ProgramFault:
        return Program(code=code, columns=(), branches=(), questions=(), instrumented="")


@pytest.mark.parametrize("code", ORDINARY)
def test_an_ordinary_program_passes(code: str) -> None:
    assert strict_fault(read_program(code, tuple(TYPES)), TYPES) is None


@pytest.mark.parametrize("body", HOSTILE)
def test_a_hostile_program_is_refused_with_one_reason(body: str) -> None:
    fault = strict_fault(program(f"def predict(age, town, items, note, max):\n    {body}\n"), TYPES)
    assert fault is not None
    assert HOSTILE[body] in fault
    assert "\n" not in fault


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("@print\ndef predict(age):\n    return 1", "line 1: a decorator is not allowed"),
        ("def predict(age=print()):\n    return 1", "line 1: arguments other than plain columns are not allowed"),
        ("def predict(*age):\n    return 1", "line 1: arguments other than plain columns are not allowed"),
        ("def predict(age: print(1)):\n    return 1", "line 1: a type hint other than a plain one is not allowed"),
        ("def predict(age) -> [].pop:\n    return 1", "line 1: a type hint other than a plain one is not allowed"),
        ("def predict(__age__):\n    return 1", "line 1: there is no column __age__"),
        ("async def predict(age):\n    return 1", "line 1: async is not allowed"),
        ("X = 1\ndef predict(age):\n    return X", "line 1: a statement outside predict is not allowed"),
        ("print(1)\ndef predict(age):\n    return 1", "line 1: a statement outside predict is not allowed"),
        ("def f(x):\n    return f(x)\ndef predict(age):\n    return f(age)", "a function beside predict"),
        ("", "a function beside predict is not allowed"),
        ("def predict(age):\n return 1\n", None),
        ("def predict(age", "it is no Python, or nested too deeply"),
        (f"def predict(age):\n    return {'-' * 5000}1", "it is no Python, or nested too deeply"),
        (f"def predict(age):\n    return {'age + ' * 990}age", "it is no Python, or nested too deeply"),
    ],
)
def test_what_stands_around_the_function_is_checked_too(code: str, reason: str | None) -> None:
    written = Program(code=code, columns=("age",), branches=(), questions=(), instrumented="")
    fault = strict_fault(written, TYPES)
    assert fault == reason or (fault and reason and reason in fault)
