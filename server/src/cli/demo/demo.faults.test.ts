/** The demo and its second start. */
import './demo.test.ts';
