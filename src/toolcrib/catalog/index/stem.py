"""A small English stemmer for the vocabulary of tools: words of one family meet in one stem.

The stem is a key, not a word: `create`, `creates`, `creating`, `created`, `creation` and `creator` all become `creat`.
"""


def stem(word: str) -> str:
    """Return the key under which a lower-case word is indexed."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return IRREGULAR.get(word, word)
    if word in IRREGULAR:
        return IRREGULAR[word]
    root = _without_ending(_without_plural(word))
    return _tail(_without_suffix(root))


def _without_plural(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def _without_ending(word: str) -> str:
    """Drop -ing and -ed where a vowel stays, undoing the doubled consonant (`stopping` → `stop`)."""
    if word[-1] not in "gd":
        return word
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and _has_vowel(root):
            if root.endswith("i") and ending == "ed":
                return root[:-1] + "y"
            return root[:-1] if _is_doubled(root) else root
    return word


def _without_suffix(word: str) -> str:
    for suffix, replacement, least in BY_LETTER.get(word[-1], ()):
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            return word[: len(word) - len(suffix)] + replacement
    return word


def _tail(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    if len(word) > 3 and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word


def _has_vowel(root: str) -> bool:
    return any(letter in "aeiouy" for letter in root)


def _is_doubled(root: str) -> bool:
    return len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"


# (ending, what stays, least letters before it): the first that fits is taken, so longer endings stand first.
SUFFIXES = (
    ("ization", "iz", 3),
    ("isation", "iz", 3),
    ("ification", "ifi", 2),
    ("ational", "", 4),
    ("ation", "", 4),
    ("ation", "at", 3),
    ("ator", "", 4),
    ("ator", "at", 3),
    ("ative", "", 4),
    ("ative", "at", 3),
    ("ate", "", 4),
    ("at", "", 4),
    ("ssion", "ss", 3),
    ("ition", "it", 3),
    ("ption", "pt", 3),
    ("ction", "ct", 2),
    ("ution", "ut", 3),
    ("ement", "", 4),
    ("ment", "", 4),
    ("ness", "", 4),
    ("ise", "iz", 4),
    ("ize", "iz", 3),
    ("izer", "iz", 3),
    ("yse", "yz", 3),
    ("yze", "yz", 3),
    ("yzer", "yz", 3),
    ("ically", "ic", 3),
    ("ally", "al", 3),
    ("ly", "", 4),
    ("ical", "ic", 3),
    ("able", "", 4),
    ("ible", "", 4),
    ("ader", "ad", 3),
    ("cter", "ct", 3),
    ("inder", "ind", 2),
    ("ler", "l", 4),
    ("ter", "t", 5),
    ("ner", "n", 4),
    ("ger", "g", 4),
    ("tor", "t", 4),
    ("sor", "s", 5),
)

BY_LETTER = {
    letter: [rule for rule in SUFFIXES if rule[0][-1] == letter] for letter in {suffix[-1] for suffix, _, _ in SUFFIXES}
}

# Irregular families, and words that the rules above would join or part wrongly.
IRREGULAR = {
    "analyses": "analyz",
    "analysis": "analyz",
    "bought": "bui",
    "buy": "bui",
    "buying": "bui",
    "buys": "bui",
    "children": "child",
    "chosen": "choos",
    "chose": "choos",
    "data": "data",
    "deleted": "delet",
    "deletion": "delet",
    "drawn": "draw",
    "drew": "draw",
    "drove": "drive",
    "finder": "find",
    "format": "format",
    "formats": "format",
    "formatted": "format",
    "formatter": "format",
    "formatting": "format",
    "found": "find",
    "gave": "give",
    "given": "give",
    "got": "get",
    "gotten": "get",
    "held": "hold",
    "indices": "index",
    "indexes": "index",
    "kept": "keep",
    "left": "left",
    "made": "mak",
    "matrices": "matrix",
    "media": "media",
    "men": "man",
    "news": "news",
    "paid": "pay",
    "payment": "pay",
    "people": "person",
    "persons": "person",
    "ran": "run",
    "removal": "remov",
    "searcher": "search",
    "caller": "call",
    "sent": "send",
    "series": "seri",
    "shown": "show",
    "sold": "sell",
    "spoke": "speak",
    "spoken": "speak",
    "status": "status",
    "statuses": "status",
    "conversion": "convert",
    "conversions": "convert",
    "converter": "convert",
    "subscription": "subscrib",
    "subscriptions": "subscrib",
    "description": "describ",
    "transcription": "transcrib",
    "transcript": "transcrib",
    "transcripts": "transcrib",
    "summary": "summariz",
    "summaries": "summariz",
    "taken": "tak",
    "took": "tak",
    "taught": "teach",
    "thing": "thing",
    "things": "thing",
    "string": "string",
    "strings": "string",
    "ring": "ring",
    "king": "king",
    "bring": "bring",
    "spring": "spring",
    "ping": "ping",
    "pings": "ping",
    "woman": "woman",
    "women": "woman",
    "written": "writ",
    "wrote": "writ",
    "write": "writ",
    "writes": "writ",
    "writer": "writ",
    "writing": "writ",
    "weather": "weather",
    "meter": "meter",
    "letter": "letter",
    "number": "number",
    "twitter": "twitter",
    "flight": "flight",
    "planner": "plan",
    "runner": "run",
    "user": "user",
    "users": "user",
    "use": "us",
    "uses": "us",
    "used": "us",
    "using": "us",
    "booking": "book",
    "meeting": "meet",
    "builder": "build",
    "reader": "read",
    "loader": "load",
    "sender": "send",
    "reservation": "reserv",
    "settings": "setting",
    "setting": "setting",
    "viewer": "view",
    "player": "play",
    "scanner": "scan",
    "crawler": "crawl",
    "scraper": "scrap",
}
