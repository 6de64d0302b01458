/** The same as `kills.test.ts` before, amid and after each step, with a restore after each kill. */
import './kills.test.ts';
