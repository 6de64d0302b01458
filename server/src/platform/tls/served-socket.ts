import { TLSSocket } from 'node:tls';

const pieceBytes = 64 * 1024;
/** The encoding that streams report for bytes. */
const ofBytes = 'buffer' as BufferEncoding;

type Done = (error?: Error | null) => void;
type Piece = { chunk: Uint8Array | string; encoding: BufferEncoding };

/**
 * Encrypts large writes piece by piece. Node would encrypt a whole write at once, which doubles its
 * memory, and would show no progress until the last byte is sent, so a slow reader would look like
 * a stalled one.
 */
export class ServedSocket extends TLSSocket {
  override _write(chunk: Uint8Array | string, encoding: BufferEncoding, done: Done): void {
    const bytes = toBytes({ chunk, encoding });
    if (bytes.length <= pieceBytes) {
      super._write(chunk, encoding, done);
      return;
    }
    super._write(bytes.subarray(0, pieceBytes), ofBytes, (error) => {
      if (error) done(error);
      else this._write(bytes.subarray(pieceBytes), ofBytes, done);
    });
  }

  override _writev(pieces: Piece[], done: Done): void {
    this._write(Buffer.concat(pieces.map(toBytes)), ofBytes, done);
  }
}

function toBytes({ chunk, encoding }: Piece): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
}
