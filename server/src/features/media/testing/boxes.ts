const HEADER_BYTES = 8;

/** A box of the ISO base media file format. */
export function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const payload = Buffer.concat(parts);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(HEADER_BYTES + payload.length, 0);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, payload]);
}
