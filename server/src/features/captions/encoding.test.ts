import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeCaptions } from './encoding.ts';

const file = (text: string) => `1\r\n00:00:01,000 --> 00:00:02,500\r\n${text}\r\n`;

/** Encodes text in an 8-bit encoding by inverting its decoder. */
function encoded(text: string, encoding: string): Buffer {
  const letters = new TextDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, i) => i));
  return Buffer.from([...text].map((letter) => letters.indexOf(letter)));
}

test('UTF-16 is known without a byte order mark, in either order', () => {
  for (const text of ['Hello', 'Привет, как дела?', '你好，世界', 'a']) {
    const bytes = Buffer.from(file(text), 'utf16le');
    assert.equal(decodeCaptions(bytes), file(text));
    assert.equal(decodeCaptions(Buffer.from(bytes).swap16()), file(text));
  }
});

test('old encodings are known by their letters', () => {
  for (const [encoding, text] of [
    ['windows-1251', 'Привет, как дела? Всё хорошо.'],
    ['windows-1251', 'Привет'],
    ['windows-1252', 'Grüße aus München, schöne Straße'],
    ['windows-1252', 'Déjà vu'],
    [
      'windows-1253',
      'Καλημέρα σας, τι κάνετε; Είμαι καλά, ευχαριστώ πολύ. Πού πηγαίνετε σήμερα το πρωί;',
    ],
  ] as const) {
    assert.equal(decodeCaptions(encoded(file(text), encoding)), file(text), `${encoding}: ${text}`);
  }
});
