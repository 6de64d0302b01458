/** How a file of the corpus is made, and what should become of it. */

export type VideoRecipe = {
  readonly kind: 'video';
  /** FFmpeg's name of the encoder. */
  readonly encoder: string;
  /** FFmpeg's name; default `yuv420p`. */
  readonly pixels?: string;
  readonly width?: number;
  readonly height?: number;
  /** Frames a second as a fraction; default `25/1`. */
  readonly rate?: string;
  readonly seconds?: number;
  /** Added to all times of the track. */
  readonly delaySeconds?: number;
  readonly options?: Readonly<Record<string, string | number>>;
  /** A filter after the picture source, such as `select` for a varying rate. */
  readonly filter?: string;
  /** Width to height of a pixel. */
  readonly aspect?: readonly [number, number];
  /** Clockwise turn that a player has to apply. */
  readonly rotation?: 90 | 180 | 270;
  readonly color?: 'bt709' | 'bt601' | 'full' | 'pq' | 'hlg';
  readonly doviProfile?: number;
  readonly tag?: string;
  readonly isDefault?: boolean;
};

export type AudioRecipe = {
  readonly kind: 'audio';
  readonly encoder: string;
  readonly sampleRate?: number;
  /** FFmpeg's name; default `stereo`. */
  readonly layout?: string;
  readonly seconds?: number;
  readonly delaySeconds?: number;
  readonly options?: Readonly<Record<string, string | number>>;
  readonly filter?: string;
  readonly tag?: string;
  readonly language?: string;
  readonly isDefault?: boolean;
};

export type SubtitleRecipe = {
  readonly kind: 'subtitle';
  readonly codec: 'subrip' | 'mov_text';
  /** Start and length of each cue, in seconds. */
  readonly cues: readonly (readonly [number, number])[];
};

export type StreamRecipe = VideoRecipe | AudioRecipe | SubtitleRecipe;

/** Changes the bytes of the file that the muxer wrote. */
export type Edit =
  | { readonly type: 'drop-start'; readonly bytes: number }
  | { readonly type: 'id3'; readonly bytes: number }
  /** The same file again, its clock moved by this. */
  | { readonly type: 'append'; readonly offsetSeconds: number };

export type Recipe = {
  readonly name: string;
  /** FFmpeg's name of the muxer. */
  readonly format: string;
  readonly streams: readonly StreamRecipe[];
  readonly options?: Readonly<Record<string, string | number>>;
  /** Added to all times of the file. */
  readonly offsetSeconds?: number;
  readonly edit?: Edit;
  readonly expected: Expected;
};

/** `seconds` is the length of the item; `names` is a word of the message that refuses it. */
export type Expected =
  | {
      readonly verdict: 'ready';
      readonly seconds: number;
      readonly hasSound: boolean;
      /** False where the picture is not to be compared: its colours are mapped. */
      readonly isComparable?: boolean;
      readonly warning?: string;
      /** Frames a second of the item. */
      readonly rate?: number;
      /** Width and height of the item. */
      readonly size?: readonly [number, number];
    }
  | { readonly verdict: 'UNSUPPORTED_MEDIA'; readonly names: string };
