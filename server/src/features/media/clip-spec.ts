/** A picture that moves over those below it, and comes back once it is half passed. */
export type PictureLayer = {
  /** Absolute path of a PNG, twice as wide or high as the clip in each direction it moves in. */
  readonly file: string;
  /** Pixels a second to the left and upwards; negative for the other way. */
  readonly speedX: number;
  readonly speedY: number;
};

/** A synthetic clip. */
export type ClipSpec = {
  /** Absolute path of the file to write; the container follows its extension. */
  readonly path: string;
  /** FFmpeg's picture source; `none` makes an audio-only file. */
  readonly source:
    | 'testsrc2'
    | 'smptebars'
    | 'mandelbrot'
    | 'gradients'
    | 'life'
    | 'cellauto'
    | 'black'
    | 'layers'
    | 'none';
  /** From back to front, for `layers`; in the folder of `path`. */
  readonly layers?: readonly PictureLayer[];
  readonly width: number;
  readonly height: number;
  /** Draws this many times smaller and enlarges: smooth pictures look the same and cost less. */
  readonly drawnSmaller?: number;
  readonly seconds: number;
  readonly frameRate: number;
  /** Frequency of the sine tone in hertz; null for a silent clip without an audio stream. */
  readonly tone: number | null;
  /** Factor on the tone, whose amplitude is an eighth. Default 0.5. */
  readonly toneVolume?: number;
  /** Length of the tone where it is not that of the picture. */
  readonly toneSeconds?: number;
  /** Seconds of black before the picture starts. */
  readonly blackSeconds?: number;
  /** Clockwise turn a player has to apply; the pixels are stored unturned. */
  readonly rotationDegrees?: 0 | 90 | 180 | 270;
  /** Puts the index of an MP4 at the front. */
  readonly fastStart?: boolean;
  /** HEVC in ten bits with this transfer; `dolby-vision` labels HLG as profile 8.4. */
  readonly hdr?: 'pq' | 'hlg' | 'dolby-vision';
  /** H.264 in eight bits where it is absent; `h264-422` has ten bits and 4:2:2, as ProRes has. */
  readonly codec?: 'h264-422' | 'hevc' | 'av1' | 'prores' | 'theora';
  /** Width to height of one stored pixel. */
  readonly pixelAspect?: readonly [number, number];
  /** Six channels instead of two. */
  readonly surround?: boolean;
  /** How much later than the picture the first sound is stored. */
  readonly soundDelaySeconds?: number;
  /** Varies colours and structure between clips of the same source. */
  readonly seed?: number;
  /** Stores two fields in each picture, as television cameras do. */
  readonly interlaced?: boolean;
  /** Pictures that may be stored out of order between two others. */
  readonly bFrames?: number;
  /** Keeps only the pictures for which this expression of FFmpeg holds: a varying frame rate. */
  readonly keepPictures?: string;
  /** Keeps only the blocks of 1,024 samples for which this expression of FFmpeg holds. */
  readonly keepSound?: string;
  /** Seconds of silence before the tone starts. */
  readonly silentSeconds?: number;
  /** Stores only the first of ten equal pictures; the others are empty packets that repeat it. */
  readonly repeatsPictures?: boolean;
  /** A row of closed captions (CEA-608, CC1) in each second: this text and the second's number. */
  readonly closedCaptions?: string;
  /** Writes an MP4 in fragments and without an edit list, as recorders do that may be cut off. */
  readonly fragmented?: boolean;
};
