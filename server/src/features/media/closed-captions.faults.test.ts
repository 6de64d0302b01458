/** The same as `closed-captions.test.ts`, but at every frame rate. */
import './closed-captions.test.ts';
