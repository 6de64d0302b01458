import { type MenuActions } from './menu-loader.ts';
import { type PlayerOptions } from '../feed/player-options.ts';
import { type PlayerPool } from '../playback/player-pool.ts';
import { type Reactions } from '../feed/reactions.ts';
import { type Slide } from '@reelfeed/client/playing';

/** The menu's actions for the active slide. */
export function menuActions(
  { host, preferences }: PlayerOptions,
  pool: PlayerPool,
  reactions: Reactions,
  watched: () => Slide | null,
): MenuActions {
  return {
    host: () => host,
    video: () => pool.active?.video ?? null,
    get speed() {
      return pool.speed;
    },
    set speed(speed) {
      pool.setSpeed(speed);
    },
    get volume() {
      return preferences.volume;
    },
    set volume(volume) {
      preferences.volume = volume;
      pool.setVolume(volume);
    },
    refuse(scope, isSet) {
      const slide = watched();
      if (slide !== null) reactions.refuse(slide, scope, isSet);
    },
    report(reason, isSet) {
      const slide = watched();
      if (slide !== null) reactions.report(slide, reason, isSet);
    },
  };
}
