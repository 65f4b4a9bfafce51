"""Encodings that are detected, named, or refused."""

import codecs

import pytest

from semisvm.tables import InputError
from semisvm.tables import encodings as module
from semisvm.tables.encodings import read_text

GERMAN = "Größe,Straße\n" * 30
DETECTED = {
    "ASCII": (b"a,b\n", "utf-8", b""),
    "UTF-8": (GERMAN.encode(), "utf-8", b""),
    "UTF-8 with a mark": (GERMAN.encode("utf-8-sig"), "utf-8", codecs.BOM_UTF8),
    "UTF-16, little endian": (codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le"), "utf-16-le", codecs.BOM_UTF16_LE),
    "UTF-16, big endian": (codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), "utf-16-be", codecs.BOM_UTF16_BE),
    "UTF-16 without a mark": (GERMAN.encode("utf-16-le"), "utf-16-le", b""),
    "UTF-32": (codecs.BOM_UTF32_LE + GERMAN.encode("utf-32-le"), "utf-32-le", codecs.BOM_UTF32_LE),
    "latin-1": (GERMAN.encode("latin-1"), "cp1252", b""),
    "cp1252": ("“€ 5”\n".encode("cp1252"), "cp1252", b""),
}


@pytest.mark.parametrize("case", DETECTED)
def test_detected_encodings(tmp_path, case):
    content, encoding, mark = DETECTED[case]
    (tmp_path / "rows.csv").write_bytes(content)
    found = read_text(tmp_path / "rows.csv")
    assert (found.encoding, found.mark) == (encoding, mark)
    assert found.mark + found.encode(found.text) == content
    assert found.mark + found.encode(found.data) == content
    assert bool(found.notes) == (encoding != "utf-8")


NAMED = {
    "latin-1": (GERMAN.encode("latin-1"), "latin-1"),
    "shift_jis": ("表|ソ\n".encode("shift_jis"), "shift_jis"),
    "utf-16": (codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), "utf-16"),
    "utf-8-sig": (GERMAN.encode("utf-8-sig"), "utf-8-sig"),
    "utf-8-sig without a mark": (GERMAN.encode(), "utf-8-sig"),
    "utf-8": (GERMAN.encode("utf-8-sig"), "utf-8"),
}


@pytest.mark.parametrize("case", NAMED)
def test_named_encodings(tmp_path, case):
    content, encoding = NAMED[case]
    (tmp_path / "rows.csv").write_bytes(content)
    found = read_text(tmp_path / "rows.csv", encoding)
    assert found.mark + found.encode(found.text) == content
    assert not found.text.startswith("\ufeff")
    assert not found.notes


REFUSED = {
    "binary": (bytes(range(256)), None, "zero bytes and is not UTF-16, so it is not a text file"),
    "controls": (b"a,b\n\x01\x02\xe9\n", None, "not Western European text; pass its encoding"),
    "Cyrillic": ("привет,мир\n".encode("cp1251"), None, "not Western European text"),
    "Japanese": ("表示,日本語\n".encode("shift_jis"), None, "not Western European text"),
    "damaged UTF-8": (GERMAN.encode() + b"\xff\n", None, "UTF-8 except for byte 0xff in line 31; correct"),
    "wrong name": (GERMAN.encode("latin-1"), "utf-8", "not utf-8: byte 0xf6 in line 1 cannot be decoded; save it"),
    "odd UTF-16": (codecs.BOM_UTF16_LE + b"a\0b", None, "is not UTF-16: byte 0x62 in line 1 cannot"),
    "no encoding": (b"a", "klingon", "klingon is not a known text encoding"),
    "no text encoding": (b"a", "base64", "base64 is not a known text encoding"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_encodings(tmp_path, case):
    content, encoding, message = REFUSED[case]
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_text(tmp_path / "rows.csv", encoding)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_first_invalid_byte_is_found_across_chunks(monkeypatch, chunk):
    monkeypatch.setattr(module, "CHUNK", chunk)
    data = "aé€😀".encode()
    assert module.first_invalid(data) is None
    for position in range(len(data)):
        for bad in (data[:position] + b"\xff" + data[position:], data[:position]):
            assert module.first_invalid(bad) == expected_position(bad)


def expected_position(data):
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
