/** The same as `disk-full.test.ts`, with processing and live streams. */
import './disk-full.test.ts';
