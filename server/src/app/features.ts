/** The list of all features. Adding a feature takes one line here. */
import { analytics } from '../features/analytics/feature.ts';
import { alerts } from '../features/alerts/feature.ts';
import { audit } from '../features/audit/feature.ts';
import { assets } from '../features/assets/feature.ts';
import { backups } from '../features/backups/feature.ts';
import { bulk } from '../features/bulk/feature.ts';
import { captions } from '../features/captions/feature.ts';
import { carousels } from '../features/carousels/feature.ts';
import { consoleFeature } from '../features/console/feature.ts';
import { content } from '../features/content/feature.ts';
import { covers } from '../features/covers/feature.ts';
import { events } from '../features/events/feature.ts';
import { experiments } from '../features/experiments/feature.ts';
import { exports } from '../features/exports/feature.ts';
import { feed } from '../features/feed/feature.ts';
import { forwarding } from '../features/forwarding/feature.ts';
import { imports } from '../features/imports/feature.ts';
import { journeys } from '../features/journeys/feature.ts';
import { keys } from '../features/keys/feature.ts';
import { live } from '../features/live/feature.ts';
import { metrics } from '../features/metrics/feature.ts';
import { organizations } from '../features/organizations/feature.ts';
import { people } from '../features/people/feature.ts';
import { playback } from '../features/playback/feature.ts';
import { player } from '../features/player/feature.ts';
import { processing } from '../features/processing/feature.ts';
import { purges } from '../features/purges/feature.ts';
import { reports } from '../features/reports/feature.ts';
import { settings } from '../features/settings/feature.ts';
import { speech } from '../features/speech/feature.ts';
import { updates } from '../features/updates/feature.ts';
import { uploads } from '../features/uploads/feature.ts';
import { webhooks } from '../features/webhooks/feature.ts';
import { composition } from './composition.ts';
import type { PlatformParts } from './platform-parts.ts';

/** Features are built in this order: each may use what those above it provide. */
export const features = composition<PlatformParts>()
  .add(organizations)
  .add(keys)
  .add(audit)
  .add(playback)
  .add(content)
  .add(uploads)
  .add(processing)
  .add(assets)
  .add(imports)
  .add(carousels)
  .add(captions)
  .add(covers)
  .add(speech)
  .add(bulk)
  .add(webhooks)
  .add(people)
  .add(events)
  .add(backups)
  .add(purges)
  .add(settings)
  .add(metrics)
  .add(experiments)
  .add(analytics)
  .add(alerts)
  .add(reports)
  .add(forwarding)
  .add(journeys)
  .add(exports)
  .add(live)
  .add(feed)
  .add(consoleFeature)
  .add(updates)
  .add(player);
