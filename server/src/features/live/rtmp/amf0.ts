/**
 * AMF0, the encoding of RTMP commands (Adobe, "Action Message Format -- AMF 0"). Supports only what
 * encoders send; anything else throws `RtmpError`.
 */
import { RtmpError } from './rtmp-error.ts';

export type AmfValue = number | boolean | string | null | AmfObject | AmfValue[];
export type AmfObject = { [name: string]: AmfValue };

const type = {
  number: 0,
  boolean: 1,
  string: 2,
  object: 3,
  null: 5,
  undefined: 6,
  ecmaArray: 8,
  objectEnd: 9,
  strictArray: 10,
  date: 11,
  longString: 12,
} as const;

/** Far more than a command or a stream's metadata contains. */
const maxDepth = 6;
const maxValues = 500;

/**
 * Decodes all values of a message.
 * @throws {RtmpError}
 */
export function decodeAmf(bytes: Buffer): AmfValue[] {
  const reader = new Reader(bytes);
  const values: AmfValue[] = [];
  while (reader.hasMore) values.push(reader.value(0));
  return values;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  value(depth: number): AmfValue {
    this.#values += 1;
    if (depth > maxDepth || this.#values > maxValues) throw new RtmpError('a command is too large');
    const marker = this.#take(1).readUInt8();
    switch (marker) {
      case type.number:
        return this.#take(8).readDoubleBE();
      case type.boolean:
        return this.#take(1)[0] !== 0;
      case type.string:
        return this.#text(this.#take(2).readUInt16BE());
      case type.longString:
        return this.#text(this.#take(4).readUInt32BE());
      case type.null:
      case type.undefined:
        return null;
      case type.ecmaArray:
        this.#take(4);
        return this.#object(depth);
      case type.object:
        return this.#object(depth);
      case type.strictArray:
        return this.#array(depth);
      case type.date: {
        const moment = this.#take(8).readDoubleBE();
        this.#take(2);
        return moment;
      }
      default:
        throw new RtmpError(`a command contains a value of the unknown type ${marker}`);
    }
  }

  #object(depth: number): AmfObject {
    // Without a prototype, so that no name has a special meaning.
    const object = Object.create(null) as AmfObject;
    for (;;) {
      const name = this.#text(this.#take(2).readUInt16BE());
      if (name === '' && this.#bytes[this.#at] === type.objectEnd) {
        this.#at += 1;
        return object;
      }
      object[name] = this.value(depth + 1);
    }
  }

  #array(depth: number): AmfValue[] {
    const length = this.#take(4).readUInt32BE();
    if (length > maxValues) throw new RtmpError('a command is too large');
    return Array.from({ length }, () => this.value(depth + 1));
  }

  #text(length: number): string {
    return this.#take(length).toString('utf8');
  }

  #take(length: number): Buffer {
    const part = this.#bytes.subarray(this.#at, this.#at + length);
    if (part.length < length) throw new RtmpError('a command ends too early');
    this.#at += length;
    return part;
  }
}

export function encodeAmf(...values: readonly AmfValue[]): Buffer {
  return Buffer.concat(values.map(encodeValue));
}

function encodeValue(value: AmfValue): Buffer {
  if (value === null) return Buffer.of(type.null);
  if (typeof value === 'boolean') return Buffer.of(type.boolean, value ? 1 : 0);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (typeof value === 'string') return Buffer.concat([Buffer.of(type.string), encodeName(value)]);
  if (Array.isArray(value)) throw new TypeError('Arrays cannot be encoded.');
  const fields = Object.entries(value).flatMap(([name, inner]) => [
    encodeName(name),
    encodeValue(inner),
  ]);
  return Buffer.concat([Buffer.of(type.object), ...fields, Buffer.of(0, 0, type.objectEnd)]);
}

function encodeName(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
