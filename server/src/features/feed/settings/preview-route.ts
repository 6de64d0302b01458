import type { HttpApp } from '../../../platform/http/app.ts';
import { fieldError } from '../../../platform/http/errors.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Envelope } from '../../../platform/http/schemas.ts';
import { mergeConfig, problemOfConfig } from '../ranking/config.ts';
import { previewFeeds, type PreviewParts } from './preview.ts';
import type { SettingsReader } from './ranking-settings.ts';
import { Preview, PreviewAnswer } from './schemas.ts';

export function addPreviewRoute(
  app: HttpApp,
  parts: PreviewParts & { readonly settings: SettingsReader },
): void {
  app.post(
    '/v1/ranking/preview',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'previewRanking',
        summary: 'Compare ranking configurations for a viewer',
        description:
          'Returns the first feed page of the viewer under one or two configurations, without side effects. Without ' +
          'a viewer, returns the page for a new viewer.',
        tags: ['Ranking'],
        body: Preview,
        response: answers({ 200: Envelope(PreviewAnswer) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { userId, deviceId, limit = 20, configs } = request.body;
      const settings = await parts.settings.of(organizationId);
      const wanted = configs.map((config, index) => {
        const merged = mergeConfig(settings.config, config);
        const problem = problemOfConfig(merged);
        if (problem !== null) throw fieldError(`configs.${index}.${problem.path}`, problem.message);
        return merged;
      });
      const viewer = {
        ...(userId !== undefined && { userId }),
        ...(deviceId !== undefined && { deviceId }),
      };
      const data = await previewFeeds(parts, {
        organizationId,
        viewer,
        limit,
        settings,
        configs: wanted,
      });
      return { data };
    },
  );
}
