/** An image that scrolls over those below it and wraps around after half its size. */
export type PictureLayer = {
  /** Absolute path of a PNG, twice the clip's size in each direction of movement. */
  readonly file: string;
  /** Pixels per second to the left and upwards; negative for the opposite direction. */
  readonly speedX: number;
  readonly speedY: number;
};

export type ClipSpec = {
  /** Absolute path of the output file; its extension determines the container. */
  readonly path: string;
  /** FFmpeg's video source; `none` produces an audio-only file. */
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
  /** Layers for the `layers` source, back to front; their files must be in the folder of `path`. */
  readonly layers?: readonly PictureLayer[];
  readonly width: number;
  readonly height: number;
  /** Draws smaller, then enlarges: smooth pictures look the same but cost less. */
  readonly drawnSmaller?: number;
  readonly seconds: number;
  readonly frameRate: number;
  /** Frequency of the sine tone in hertz, or null for no audio stream. */
  readonly tone: number | null;
  /** Factor applied to the tone, whose base amplitude is 1/8. Default 0.5. */
  readonly toneVolume?: number;
  /** Duration of the tone if it differs from the video's. */
  readonly toneSeconds?: number;
  readonly blackSeconds?: number;
  /** Clockwise rotation that the player must apply; the pixels are stored unrotated. */
  readonly rotationDegrees?: 0 | 90 | 180 | 270;
  /** Puts the MP4 index at the start of the file. */
  readonly fastStart?: boolean;
  /** 10-bit HEVC with this transfer function; `dolby-vision` labels HLG as profile 8.4. */
  readonly hdr?: 'pq' | 'hlg' | 'dolby-vision';
  /** Default: 8-bit H.264. `h264-422` is 10-bit 4:2:2, like ProRes. */
  readonly codec?: 'h264-422' | 'hevc' | 'av1' | 'prores' | 'theora';
  /** Pixel aspect ratio, as width and height. */
  readonly pixelAspect?: readonly [number, number];
  /** Six audio channels instead of two. */
  readonly surround?: boolean;
  /** Delay of the first audio relative to the video. */
  readonly soundDelaySeconds?: number;
  /** Varies colors and structure between clips of the same source. */
  readonly seed?: number;
  /** Stores interlaced video, as television cameras do. */
  readonly interlaced?: boolean;
  /** Maximum consecutive B-frames. */
  readonly bFrames?: number;
  /** FFmpeg expression that selects pictures, for a variable frame rate. */
  readonly keepPictures?: string;
  /** FFmpeg expression that selects blocks of 1,024 samples. */
  readonly keepSound?: string;
  /** Seconds of silence before the tone starts. */
  readonly silentSeconds?: number;
  /** Stores only the first of ten equal pictures; the rest are empty packets that repeat it. */
  readonly repeatsPictures?: boolean;
  /**
   * Adds a row of closed captions (CEA-608, CC1) every second: this text plus the second's number.
   */
  readonly closedCaptions?: string;
  /** Writes a fragmented MP4 without an edit list, like recorders that may be interrupted. */
  readonly fragmented?: boolean;
};
