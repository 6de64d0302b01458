/**
 * The same as `kills.test.ts`, but before, in the middle of and after every step, with a restore
 * after each kill.
 */
import './kills.test.ts';
