/** Live streams over SRT and with lower rungs, in every codec. */
import './live-ladder.test.ts';
import './live-srt.test.ts';
