/**
 * The same as `console-pages.test.ts`, but with every view and all its dialogs at three widths, in
 * light and dark mode.
 */
import './console-pages.test.ts';
