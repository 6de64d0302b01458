/**
 * Decodes HEIC images: HEVC pictures, usually split into tiles. Uses libheif compiled to
 * WebAssembly, whose memory is an additional sandbox inside the cage.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { crc32, deflateSync } from 'node:zlib';
import type { MainModule as Heif } from 'libheif-js/libheif-wasm/libheif.js';
import sharp from 'sharp';
import { MediaError } from '../../media-error.ts';

// Values of libheif's `heif_colorspace`, `heif_chroma`, `heif_channel` and `heif_error_code`.
const RGB = 1;
const INTERLEAVED_RGBA = 11;
const INTERLEAVED = 10;
const UNSUPPORTED_FILE_TYPE = 3;
const UNSUPPORTED_FEATURE = 4;
/** `heif_suberror_Security_limit_exceeded`. */
const LIMIT_EXCEEDED = 1000;
/**
 * Offset of `strict_decoding` in `heif_decoding_options`. Without it, a truncated file yields half
 * a picture.
 */
const STRICT_DECODING_OFFSET = 21;
/** Four-letter types of color profiles in ICC format. */
const ICC_TYPES = ['prof', 'rICC'].map((name) => Buffer.from(name).readUInt32BE());
const PNG_SIGNATURE_AND_HEADER_BYTES = 33;

/** libheif and the address of scratch memory for its results. */
type Library = { readonly heif: Heif; readonly answer: number };

type Bounds = {
  readonly maxPixels: number;
  /** Bounding box of the result, which is never enlarged. */
  readonly width: number;
  readonly height: number;
};

/**
 * Decodes the primary image of a HEIC file, cropped and rotated as the file specifies. Nothing is
 * freed, because the process ends with its task.
 * @returns a PNG with the image's color profile
 * @throws {MediaError} UNSUPPORTED_MEDIA, CORRUPT_MEDIA
 */
export async function decodeHeic(bytes: Buffer, bounds: Bounds): Promise<Buffer> {
  const heif = await loadLibrary();
  const library = { heif, answer: heif._malloc(16) };
  const image = openPrimaryImage(library, bytes, bounds.maxPixels);
  const { data, width, height } = draw(library, image);
  const { width: maxWidth, height: maxHeight } = bounds;
  const png = await sharp(data, { raw: { width, height, channels: 4 } })
    .resize({ width: maxWidth, height: maxHeight, fit: 'inside', withoutEnlargement: true })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const profile = iccProfileOf(heif, image);
  return profile === null ? png : withIccProfile(png, profile);
}

/** The package's types declare a default export that its CommonJS module doesn't have. */
async function loadLibrary(): Promise<Heif> {
  const require = createRequire(import.meta.url);
  const load: (options: object) => Heif = require('libheif-js/libheif-wasm/libheif.js');
  const program = require.resolve('libheif-js/libheif-wasm/libheif.wasm');
  return load({ wasmBinary: await readFile(program) });
}

/** Returns a handle to the image. Its size is checked in the index before anything is decoded. */
function openPrimaryImage(library: Library, bytes: Buffer, maxPixels: number): number {
  const { heif, answer } = library;
  const file = heif._malloc(bytes.length);
  heif.HEAPU8.set(bytes, file);
  const context = heif._heif_context_alloc();
  // Applies to both the tiles and the canvas; the limit is the side of a square.
  heif._heif_context_set_maximum_image_size_limit(context, Math.floor(Math.sqrt(maxPixels)));
  heif._heif_context_read_from_memory_without_copy(answer, context, file, bytes.length, 0);
  check(library);
  const handle = heif._malloc(4);
  heif._heif_context_get_primary_image_handle(answer, context, handle);
  check(library);
  const image = wordAt(heif, handle);
  const width = heif._heif_image_handle_get_width(image);
  const height = heif._heif_image_handle_get_height(image);
  if (width * height > maxPixels) {
    const message = `The image has more than ${maxPixels} pixels.`;
    throw new MediaError('UNSUPPORTED_MEDIA', message, { retryable: false });
  }
  return image;
}

/** Decodes an image to packed RGBA rows. */
function draw(library: Library, image: number) {
  const { heif, answer } = library;
  const drawn = heif._malloc(4);
  const options = heif._heif_decoding_options_alloc();
  heif.HEAPU8[options + STRICT_DECODING_OFFSET] = 1;
  heif._heif_decode_image(answer, image, drawn, RGB, INTERLEAVED_RGBA, options);
  check(library);
  const picture = wordAt(heif, drawn);
  const width = heif._heif_image_get_width(picture, INTERLEAVED);
  const height = heif._heif_image_get_height(picture, INTERLEAVED);
  const start = heif._heif_image_get_plane_readonly(picture, INTERLEAVED, answer);
  const stride = wordAt(heif, answer);
  const data = Buffer.alloc(width * height * 4);
  for (let row = 0; row < height; row += 1) {
    const from = start + row * stride;
    data.set(heif.HEAPU8.subarray(from, from + width * 4), row * width * 4);
  }
  return { data, width, height };
}

function iccProfileOf(heif: Heif, image: number): Buffer | null {
  if (!ICC_TYPES.includes(heif._heif_image_handle_get_color_profile_type(image))) return null;
  const length = heif._heif_image_handle_get_raw_color_profile_size(image);
  const start = heif._malloc(length);
  heif._heif_image_handle_get_raw_color_profile(start + length, image, start);
  return Buffer.from(heif.HEAPU8.subarray(start, start + length));
}

/** Inserts an ICC profile into a PNG as an `iCCP` chunk right after the header. */
function withIccProfile(png: Buffer, profile: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from('iCCPicc\0\0'), deflateSync(profile)]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(content.length - 4, 0);
  ends.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([
    png.subarray(0, PNG_SIGNATURE_AND_HEADER_BYTES),
    ends.subarray(0, 4),
    content,
    ends.subarray(4),
    png.subarray(PNG_SIGNATURE_AND_HEADER_BYTES),
  ]);
}

function wordAt(heif: Heif, at: number): number {
  return heif.HEAPU32[at / 4];
}

/** Checks the `heif_error` left by the last call: code, subcode and message pointer. */
function check({ heif, answer }: Library): void {
  const [code, subcode] = [wordAt(heif, answer), wordAt(heif, answer + 4)];
  if (code === 0) return;
  const start = wordAt(heif, answer + 8);
  const text = Buffer.from(heif.HEAPU8.subarray(start, heif.HEAPU8.indexOf(0, start)));
  throw failure(code, subcode, `libheif ${code}.${subcode}: ${text.toString()}`);
}

function failure(code: number, subcode: number, detail: string): MediaError {
  const options = { detail, retryable: false };
  if (subcode === LIMIT_EXCEEDED) {
    const message = 'The image has more or larger parts than are accepted.';
    return new MediaError('UNSUPPORTED_MEDIA', message, options);
  }
  if (code === UNSUPPORTED_FILE_TYPE || code === UNSUPPORTED_FEATURE) {
    return new MediaError(
      'UNSUPPORTED_MEDIA',
      'This kind of HEIC image is not supported.',
      options,
    );
  }
  return new MediaError('CORRUPT_MEDIA', 'The image is damaged or truncated.', options);
}
