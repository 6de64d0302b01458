/** Recipe of a corpus file and the expected result. */

export type VideoRecipe = {
  readonly kind: 'video';
  /** FFmpeg's encoder name. */
  readonly encoder: string;
  /** FFmpeg's pixel format; default `yuv420p`. */
  readonly pixels?: string;
  readonly width?: number;
  readonly height?: number;
  /** Frame rate as a fraction; default `25/1`. */
  readonly rate?: string;
  readonly seconds?: number;
  /** Added to all timestamps of the track. */
  readonly delaySeconds?: number;
  readonly options?: Readonly<Record<string, string | number>>;
  /** A filter after the video source, such as `select` for a variable frame rate. */
  readonly filter?: string;
  /** Pixel aspect ratio. */
  readonly aspect?: readonly [number, number];
  /** Clockwise rotation that a player must apply. */
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
  /** FFmpeg's channel layout; default `stereo`. */
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
  /** Start and duration of each cue, in seconds. */
  readonly cues: readonly (readonly [number, number])[];
};

export type StreamRecipe = VideoRecipe | AudioRecipe | SubtitleRecipe;

/** Modifications of the muxed file's bytes. */
export type Edit =
  | { readonly type: 'drop-start'; readonly bytes: number }
  | { readonly type: 'id3'; readonly bytes: number }
  /** Appends the same file with its clock shifted by this. */
  | { readonly type: 'append'; readonly offsetSeconds: number };

export type Recipe = {
  readonly name: string;
  /** FFmpeg's muxer name. */
  readonly format: string;
  readonly streams: readonly StreamRecipe[];
  readonly options?: Readonly<Record<string, string | number>>;
  /** Added to all timestamps of the file. */
  readonly offsetSeconds?: number;
  readonly edit?: Edit;
  readonly expected: Expected;
};

/** `seconds` is the item's duration; `names` is a word in the rejection's message. */
export type Expected =
  | {
      readonly verdict: 'ready';
      readonly seconds: number;
      readonly hasSound: boolean;
      /** False if the pictures can't be compared, because their colors are mapped. */
      readonly isComparable?: boolean;
      readonly warning?: string;
      /** Expected frame rate. */
      readonly rate?: number;
      /** Expected width and height. */
      readonly size?: readonly [number, number];
    }
  | { readonly verdict: 'UNSUPPORTED_MEDIA'; readonly names: string };
