/** The complete tour of the crowded world: every control at every address, and the way back. */
import './crowded-world.test.ts';
