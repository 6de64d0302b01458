/** The same as `console-tasks.test.ts`, scrolling to the last of 10,000 rows. */
import './console-tasks.test.ts';
