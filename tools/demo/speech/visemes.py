"""Mouth shapes, and which of them each of espeak-ng's phonemes takes.

A shape is a point of the eight mouth parameters, each about 0..1:
  jaw     opening of the jaw                 upper   upper lip raised
  wide    corners apart                      lower   lower lip lowered
  round   lips rounded and forward           tongue  tip of the tongue raised
  press   lips pressed together              tuck    lower lip under the upper teeth
"""

import re

import numpy as np

PARAMETERS = ("jaw", "wide", "round", "press", "upper", "lower", "tongue", "tuck")


def _point(**values: float) -> np.ndarray:
    unknown = set(values) - set(PARAMETERS)
    if unknown:
        raise ValueError(f"no mouth parameter {sorted(unknown)}")
    return np.array([values.get(name, 0.0) for name in PARAMETERS], np.float32)


SHAPES = {
    "rest": _point(),
    "P": _point(press=1),
    "F": _point(tuck=1, jaw=0.10, upper=0.35),
    "TH": _point(jaw=0.22, tongue=0.9, wide=0.1),
    "T": _point(jaw=0.24, tongue=0.85, wide=0.15, upper=0.1),
    "S": _point(jaw=0.08, wide=0.40, upper=0.35, lower=0.40),
    "SH": _point(jaw=0.10, round=0.55, upper=0.45, lower=0.5),
    "K": _point(jaw=0.28, wide=0.1),
    "H": _point(jaw=0.35),
    "R": _point(jaw=0.22, round=0.45, upper=0.1, lower=0.1),
    "AH": _point(jaw=0.92, wide=0.05),
    "AE": _point(jaw=0.62, wide=0.45, upper=0.2),
    "EH": _point(jaw=0.45, wide=0.3, upper=0.1),
    "UH": _point(jaw=0.45),
    "EE": _point(jaw=0.22, wide=0.85, upper=0.3, lower=0.25),
    "OH": _point(jaw=0.50, round=0.72),
    "OO": _point(jaw=0.20, round=1.0),
    "UU": _point(jaw=0.28, round=0.55),
    "UE": _point(jaw=0.20, round=0.85, upper=0.15, lower=0.15),
}

# How strongly a shape insists on each parameter against its neighbours (coarticulation): closed lips
# win over any vowel, a back consonant takes the mouth of what surrounds it.
_VOWEL = np.array([1.5, 1.4, 1.6, 2, 1.2, 1.2, 1, 1.5], np.float32)
DOMINANCE = {name: _VOWEL for name in SHAPES} | {
    name: np.array(values, np.float32)
    for name, values in {
        "rest": [0.9, 0.6, 0.6, 0.8, 0.8, 0.8, 0.8, 0.8],
        "P": [4, 0.3, 0.25, 8, 2, 2, 1, 3],
        "F": [3.5, 0.3, 0.3, 3, 3, 2, 1, 8],
        "TH": [1.5, 0.5, 0.3, 2, 1, 1, 4, 2],
        "T": [1.2, 0.3, 0.25, 2, 0.6, 0.6, 3, 2],
        "S": [2.6, 1, 0.7, 2, 2, 2, 1, 2],
        "SH": [2.6, 1, 2.2, 2, 2, 2, 1, 2],
        "K": [0.7, 0.25, 0.2, 1.5, 0.5, 0.5, 1, 1],
        "H": [0.3, 0.2, 0.2, 1, 0.3, 0.3, 0.5, 0.5],
        "R": [1, 0.8, 1.4, 2, 0.8, 0.8, 1, 1],
    }.items()
}

# espeak's mnemonics by shape. They are nearly the same in all languages.
_MNEMONICS = {
    "P": "p b m",
    "F": "f v",
    "TH": "T D",
    "T": "t d n l t# t2 * **  l# n- l^ n^ t; d; l; n;",
    "S": "s z ts dz s; z;",
    "SH": "S Z S; Z; S^ s^ z^ ts^ sx s.",
    "K": "k g N x Q C c ? q k^ g^ x^",
    "H": "h H h2",
    "R": "r r- 3 3: r/ R R2",
    "AH": "A: A A@ a@ aa a: 0 A~ a~",
    "AE": "& a aU@",
    "EH": "E E: e e: I I2 E2 e2 e~ E~ E# I#",
    "UH": "@ @2 @L @5 a# V 3# V# U\" y# @-",
    "EE": "i: i j i@ i@3",
    "OH": "O: O o o: O@ O2 o@ o~ O~ Q: V: W W: o# O#",
    "OO": "u: u w U@ w# B",
    "UU": "U",
    "UE": "y y: Y Y: W~ y~",
}
_SHAPE_OF = {name: shape for shape, names in _MNEMONICS.items() for name in names.split()}
# Two shapes, one after the other.
_PAIRS = {
    "aI": ("AH", "EE"), "eI": ("EH", "EE"), "oU": ("OH", "OO"), "aU": ("AH", "OO"),
    "OI": ("OH", "EE"), "OY": ("OH", "EE"), "e@": ("AE", "UH"), "i@": ("EE", "UH"),
    "tS": ("T", "SH"), "dZ": ("T", "SH"), "O@": ("OH", "R"), "o@": ("OH", "R"),
    "A@": ("AH", "R"), "U@": ("OO", "R"), "aI@": ("AH", "EE"), "aU@": ("AH", "OO"),
    "EI": ("EH", "EE"), "oI": ("OH", "EE"), "ai": ("AH", "EE"), "ei": ("EH", "EE"), "ou": ("OH", "OO"),
    "au": ("AH", "OO"), "pf": ("P", "F"), "yw": ("UE", "OO"),
}  # fmt: skip
_STRESS_AND_LENGTH = re.compile(r"[',%=_|;]")
_UNKNOWN = "UH"


def shapes_of(mnemonic: str) -> tuple[str, ...]:
    """The shape of a phoneme, or two in order for a diphthong or affricate.

    Pauses rest. A mnemonic that no table knows is looked up by its first two letters, then its
    first, and at last taken for a neutral vowel.
    """
    if mnemonic.startswith("_") or not mnemonic:
        return ("rest",)
    name = _STRESS_AND_LENGTH.sub("", mnemonic)
    if name in ("", ":", "!"):  # a glottal stop or a palatalisation: the mouth of its neighbours
        return ("H",)
    for candidate in (name, name[:2], name[:1]):
        if candidate in _PAIRS:
            return _PAIRS[candidate]
        if candidate in _SHAPE_OF:
            return (_SHAPE_OF[candidate],)
    return (_UNKNOWN,)
