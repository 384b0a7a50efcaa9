"""Words of English prose and Python's keywords that say nothing about which code is meant."""

from __future__ import annotations

import keyword

_ENGLISH = """
a about above after again against all also although always am an and any anyone anything are
aren as at be because been before being below between both but by came can cannot come could
couldn did didn do does doesn doing don done down during each either else etc even ever every
few for from further get gets getting give given go goes going got had hadn has hasn have haven
having he hence her here hers him his how however i if in instead into is isn it its itself
just know let ll like lot m made make makes many may maybe me might more most much must my
need needs neither never no nor not now of off often on once one only onto or other others our
out over own per perhaps please rather re really s same saw say see seem seems seen several
shall she should shouldn since so some somehow someone something still such t take than thank
thanks that the their them then there therefore these they thing things think this those
though through thus to too two under unless until up upon us use used uses using ve very via
want wants was wasn way we well were weren what when where whether which while who whom whose
why will with within without won would wouldn yes yet you your yours
"""
ENGLISH_STOP_WORDS = frozenset(_ENGLISH.split())
"""Function words, pieces of contractions ("doesn't" is read as two words) and courtesies."""

STOP_WORDS = ENGLISH_STOP_WORDS | {word.lower() for word in keyword.kwlist}
"""What `Tokenizer` leaves out of prose, lower case."""
