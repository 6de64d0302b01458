import { addContentReportRoutes } from './reports/content-routes.ts';
import { addDiscoveryRoutes } from './reports/discovery-routes.ts';
import { addEngagementRoutes } from './reports/engagement-routes.ts';
import { addHabitRoutes } from './reports/habit-routes.ts';
import { addOverviewRoutes } from './reports/overview-route.ts';
import { addRealtimeRoute } from './reports/realtime-route.ts';
import type { ReportParts } from './reports/report-parts.ts';
import type { HttpApp } from '../../platform/http/app.ts';

/** The read API of analytics: `GET /v1/analytics/…`. */
export function addAnalyticsRoutes(app: HttpApp, parts: ReportParts): void {
  addOverviewRoutes(app, parts);
  addContentReportRoutes(app, parts);
  addEngagementRoutes(app, parts);
  addDiscoveryRoutes(app, parts);
  addHabitRoutes(app, parts);
  addRealtimeRoute(app, parts);
}
