"""Strings."""
import numpy as np

from probe import case


def texts(p, *shape):
    return p.rng.choice(np.array(["ab", "b c", "Cab", "d"], dtype=object), shape)


@case("StringConcat")
def concat(p):
    p.value(texts(p, 3))
    p.value(texts(p, 3))


@case("StringSplit")
def split(p):
    p.value(texts(p, 3))
    p.attr(delimiter=" ")


@case("RegexFullMatch")
def match(p):
    p.value(texts(p, 4))
    p.attr(pattern="[a-c ]+")


@case("StringNormalizer", by={"case_change_action": ["NONE", "LOWER"]})
def normalize(p):
    p.value(texts(p, 4))
    p.attr(case_change_action=p.by["case_change_action"], is_case_sensitive=1, stopwords=["zz"])
    if p.by["case_change_action"] == "LOWER":
        p.attr(locale="C")


@case("TfIdfVectorizer", by={"mode": ["TF", "IDF", "TFIDF"]})
def tfidf(p):
    text = p.type_of("T") == "string"
    p.value(np.array(["s1", "s2", "s1"], dtype=object) if text else [1, 2, 1])
    pool = dict(pool_strings=["s1", "s2"]) if text else dict(pool_int64s=[1, 2])
    p.attr(mode=p.by["mode"], min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0],
           ngram_indexes=[0, 1], weights=[0.5, 2.0], **pool)


@case("Tokenizer", domain="com.microsoft")
def tokenize(p):
    p.value(texts(p, 3))
    p.attr(mark=0, mincharnum=1, pad_value="#", separators=[" "])


@case("MurmurHash3", domain="com.microsoft", bindings=lambda s: [
    {"T1": x, "T2": y} for x in s.types["T1"] for y in s.types["T2"]])
def murmur(p):
    p.input(3)
    p.attr(positive=int(p.type_of("T2") == "uint32"))
