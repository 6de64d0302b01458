/** The same as `closed-captions.test.ts`, at every frame rate. */
import './closed-captions.test.ts';
