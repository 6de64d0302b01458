/** The same as `player-live-rungs.test.ts`, in every codec. */
import './player-live-rungs.test.ts';
