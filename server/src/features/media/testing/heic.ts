/**
 * Builds HEIC files as phones write them: a grid of HEVC tiles cropped by a canvas and rotated by a
 * property. Box layouts are from ISO/IEC 23008-12 and 14496-12; `hvcC` is from 14496-15.
 */
import { Codec, CodecContext, Dictionary, Rational } from 'node-av/lib';
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PIX_FMT_YUV420P,
  FF_ENCODER_LIBX265,
} from 'node-av/constants';
import { encode } from '../child/engine/encoders.ts';
import { check, required } from '../child/engine/engine.ts';
import { FrameGraph, GRAPH_OUTPUT } from '../child/engine/frame-graph.ts';
import { box } from './boxes.ts';

export type HeicSpec = {
  /** The color of each tile, row by row. */
  readonly tiles: readonly (readonly string[])[];
  readonly tileSide?: number;
  /** Canvas size. Default: the size of all tiles together. */
  readonly width?: number;
  readonly height?: number;
  /** A false canvas size for `ispe`. */
  readonly claimedSize?: readonly [width: number, height: number];
  /** A false tile size for `ispe`. */
  readonly claimedTileSide?: number;
  readonly quarterTurnsLeft?: number;
  readonly iccProfile?: Buffer;
};

const VPS = 32;
const SPS = 33;
const PPS = 34;
const GRID_ID = 1;

type Tile = { readonly parameterSets: Buffer[]; readonly picture: Buffer };

const u16 = (...values: number[]): Buffer =>
  Buffer.from(values.flatMap((value) => [value >> 8, value & 0xff]));
function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
const fullBox = (type: string, version: number, flags: number, ...parts: Buffer[]): Buffer =>
  box(type, u32(version * 2 ** 24 + flags), ...parts);

/** Splits a byte stream into the units between its start codes. */
function splitUnits(stream: Buffer): Buffer[] {
  const starts: number[] = [];
  const code = Buffer.from([0, 0, 1]);
  for (let at = stream.indexOf(code); at !== -1; at = stream.indexOf(code, at + 3)) starts.push(at);
  return starts.map((start, index) => {
    let end = starts[index + 1] ?? stream.length;
    while (stream[end - 1] === 0) end -= 1;
    return stream.subarray(start + 3, end);
  });
}

const unitType = (unit: Buffer): number => ((unit[0] ?? 0) >> 1) & 63;

async function encodeTile(color: string, side: number): Promise<Tile> {
  const codec = required(Codec.findEncoderByName(FF_ENCODER_LIBX265), FF_ENCODER_LIBX265);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.width = side;
  context.height = side;
  context.pixelFormat = AV_PIX_FMT_YUV420P;
  context.timeBase = new Rational(1, 1);
  context.framerate = new Rational(1, 1);
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  using options = Dictionary.fromObject({
    preset: 'ultrafast',
    'x265-params': 'log-level=none:keyint=1:info=0',
  });
  check(await context.open2(codec, options), 'open tile encoder');
  // Without a profile, decoders assume full-range BT.601.
  using graph = await FrameGraph.open(
    `color=c=${color}:s=${side}x${side}:r=1,trim=end_frame=1,` +
      `scale=out_range=full:out_color_matrix=bt601,format=yuv420p,${GRAPH_OUTPUT}`,
  );
  const units = splitUnits(context.extraData ?? Buffer.alloc(0));
  const pictures: Buffer[] = [];
  const take = async (frame: Parameters<typeof encode>[1]): Promise<void> => {
    for await (const packet of encode(context, frame)) {
      pictures.push(...splitUnits(Buffer.from(packet.data ?? [])).filter((u) => unitType(u) < VPS));
      packet.free();
    }
  };
  for await (const frame of graph.pull()) {
    await take(frame);
    frame.free();
  }
  await take(null);
  context.freeContext();
  return {
    parameterSets: units.filter((unit) => [VPS, SPS, PPS].includes(unitType(unit))),
    picture: Buffer.concat(pictures.flatMap((unit) => [u32(unit.length), unit])),
  };
}

/** `hvcC`: the profile and level from the sequence parameter set, then the parameter sets. */
function decoderConfiguration(units: readonly Buffer[]): Buffer {
  const sequence = units.find((unit) => unitType(unit) === SPS) ?? Buffer.alloc(0);
  // Removes emulation prevention: in a unit, a 3 is inserted after two zeros so that no start code
  // appears.
  const unescaped = Buffer.from(
    sequence.filter((byte, at) => byte !== 3 || sequence[at - 1] !== 0 || sequence[at - 2] !== 0),
  );
  return box(
    'hvcC',
    Buffer.from([1]),
    unescaped.subarray(3, 15),
    Buffer.from([0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, units.length]),
    ...units.flatMap((unit) => [Buffer.from([0x80 | unitType(unit)]), u16(1, unit.length), unit]),
  );
}

const sizeProperty = (width: number, height: number): Buffer =>
  fullBox('ispe', 0, 0, u32(width, height));

const item = (id: number, type: string): Buffer =>
  // Tiles are hidden: only the canvas is a displayable image.
  fullBox('infe', 2, id === GRID_ID ? 0 : 1, u16(id, 0), Buffer.from(`${type}\0`));

/** Associates properties with items by 1-based index; a tile's first property is essential. */
function associations(tileIds: readonly number[], ofCanvas: readonly number[]): Buffer {
  return fullBox(
    'ipma',
    0,
    0,
    u32(tileIds.length + 1),
    u16(GRID_ID),
    Buffer.from([ofCanvas.length, ...ofCanvas]),
    ...tileIds.flatMap((id) => [u16(id), Buffer.from([2, 0x80 | 1, 2])]),
  );
}

function locations(parts: readonly Buffer[], start: number): Buffer {
  let offset = start;
  const entries = parts.map((part, index) => {
    const entry = Buffer.concat([u16(GRID_ID + index, 0, 1), u32(offset, part.length)]);
    offset += part.length;
    return entry;
  });
  return fullBox('iloc', 0, 0, Buffer.from([0x44, 0]), u16(parts.length), ...entries);
}

/** A complete HEIC file whose tiles each have one color. */
export async function heicBytes(spec: HeicSpec): Promise<Buffer> {
  const { tileSide = 128, claimedTileSide = tileSide, quarterTurnsLeft = 0, iccProfile } = spec;
  const columns = spec.tiles[0]?.length ?? 0;
  const width = spec.width ?? columns * tileSide;
  const height = spec.height ?? spec.tiles.length * tileSide;
  const tiles: Tile[] = [];
  for (const color of spec.tiles.flat()) tiles.push(await encodeTile(color, tileSide));
  const tileIds = tiles.map((_, index) => GRID_ID + 1 + index);
  const grid = Buffer.concat([
    Buffer.from([0, 0, spec.tiles.length - 1, columns - 1]),
    u16(width, height),
  ]);
  const parts = [grid, ...tiles.map(({ picture }) => picture)];
  const properties = [
    decoderConfiguration(tiles[0]?.parameterSets ?? []),
    sizeProperty(claimedTileSide, claimedTileSide),
    sizeProperty(...(spec.claimedSize ?? ([width, height] as const))),
    ...(iccProfile === undefined ? [] : [box('colr', Buffer.from('prof'), iccProfile)]),
    ...(quarterTurnsLeft === 0 ? [] : [box('irot', Buffer.from([quarterTurnsLeft]))]),
  ];
  const ofCanvas = properties.map((_, index) => index + 1).slice(2);
  const fileType = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic'));
  const meta = (start: number): Buffer =>
    fullBox(
      'meta',
      0,
      0,
      fullBox('hdlr', 0, 0, u32(0), Buffer.from('pict'), u32(0, 0, 0), Buffer.from([0])),
      fullBox('pitm', 0, 0, u16(GRID_ID)),
      fullBox(
        'iinf',
        0,
        0,
        u16(parts.length),
        item(GRID_ID, 'grid'),
        ...tileIds.map((id) => item(id, 'hvc1')),
      ),
      fullBox('iref', 0, 0, box('dimg', u16(GRID_ID, tileIds.length, ...tileIds))),
      box('iprp', box('ipco', ...properties), associations(tileIds, ofCanvas)),
      locations(parts, start),
    );
  const start = fileType.length + meta(0).length + 8;
  return Buffer.concat([fileType, meta(start), box('mdat', ...parts)]);
}
