import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvLine } from './csv.ts';

test('fields are quoted where they must be, and nothing is empty', () => {
  assert.equal(csvLine(['a', 'b, "c"', 'd\r\ne', null, true]), 'a,"b, ""c""","d\r\ne",,true');
});

test('a text that a spreadsheet would evaluate gets a leading apostrophe', () => {
  const signs = ['=', '+', '-', '@', '\t', '\uff1d', '\uff0b', '\uff0d', '\uff20'];
  for (const sign of signs) assert.equal(csvLine([`${sign}1+1`]), `'${sign}1+1`);
  assert.equal(csvLine(['\r=1']), '"\'\r=1"');
  assert.equal(csvLine(['\n=1']), '"\'\n=1"');
  assert.equal(csvLine(['=HYPERLINK("http://x","y")']), '"\'=HYPERLINK(""http://x"",""y"")"');
});

test('numbers stay numbers, and harmless texts stay as they are', () => {
  assert.equal(csvLine([-12.5, 1e21, 0]), '-12.5,1e+21,0');
  for (const text of ['', 'a=b', "it's", "'quoted'", ' plain', '1-2']) {
    assert.equal(csvLine([text]), text);
  }
});

test('taking one apostrophe from texts with a sign behind apostrophes gives the text again', () => {
  const undo = (cell: string) => cell.replace(/^'(?='*[=+\-@\t\uff1d\uff0b\uff0d\uff20])/, '');
  for (const text of ['=1', "'=1", "''-1", "'a", 'a', '@x', '-']) {
    assert.equal(undo(csvLine([text])), text);
  }
});

test('any text survives another CSV reader, and none is evaluated', () => {
  const cells = fc.array(
    fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'=\'",\r\n-a') })),
    {
      minLength: 2,
      maxLength: 4,
    },
  );
  fc.assert(
    fc.property(cells, (row) => {
      const [read = []] = parse(`${csvLine(row)}\r\n`, { record_delimiter: '\r\n' });
      const undone = read.map((cell) =>
        cell.replace(/^'(?='*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/, ''),
      );
      assert.deepEqual(undone, row);
      for (const cell of read) assert.doesNotMatch(cell, /^[=+\-@\t\r\n]/);
    }),
    { numRuns: 200 },
  );
});
