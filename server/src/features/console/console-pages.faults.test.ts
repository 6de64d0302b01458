/**
 * The same as `console-pages.test.ts`, with every view and all its dialogs at three widths, in light and
 * in dark.
 */
import './console-pages.test.ts';
