/** Checks import items individually: their values, and where their URLs lead now. */
import type { Static } from 'typebox';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/egress-errors.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { refuseBadText } from '../../platform/http/text-rules.ts';
import { validationError } from '../../platform/http/validation-error.ts';
import { compileBody } from '../../platform/http/validation.ts';
import type { SourceBuckets } from '../../platform/storage/source-buckets.ts';
import type { Metadata } from '../content/content.ts';
import type { ImportSource } from './queries.ts';
import { ImportItem } from './schemas.ts';
import { schemes } from './source-body.ts';

export type ImportedItem = {
  source: ImportSource;
  metadata: Metadata & { autoScrollInterval?: number | null };
};
export type CheckedItem = { item: ImportedItem } | { error: { code: string; message: string } };

/** Decides whether a source may be read. */
export type SourceRules = { egress: Egress; buckets: SourceBuckets };

const itemProblems = compileBody(ImportItem);
const checkedAtOnce = 10;

export async function checkItems(
  rules: SourceRules,
  items: readonly Record<string, unknown>[],
): Promise<CheckedItem[]> {
  const checked: CheckedItem[] = [];
  for (let start = 0; start < items.length; start += checkedAtOnce) {
    const some = items.slice(start, start + checkedAtOnce);
    checked.push(...(await Promise.all(some.map((item) => checkItem(rules, item)))));
  }
  return checked;
}

async function checkItem(rules: SourceRules, raw: Record<string, unknown>): Promise<CheckedItem> {
  const problems = itemProblems(raw);
  if (problems !== null) return refusal(validationError('body', problems).message);
  try {
    refuseBadText(JSON.stringify(raw), raw);
    const item = toItem(raw as Static<typeof ImportItem>);
    for (const [path, url] of urlsOf(item.source)) await checkUrl(rules, path, url);
    return { item };
  } catch (error) {
    if (error instanceof ApiError) return refusal(error.message);
    throw error;
  }
}

function refusal(message: string): CheckedItem {
  return { error: { code: 'VALIDATION_ERROR', message } };
}

/** @throws {ApiError} VALIDATION_ERROR */
function toItem({
  sourceUrl,
  images,
  contentType,
  autoScrollInterval,
  ...metadata
}: Static<typeof ImportItem>): ImportedItem {
  if (sourceUrl !== undefined && images !== undefined) {
    throw fieldError(
      'images',
      'cannot be combined with sourceUrl: a carousel contains only images',
    );
  }
  const wanted = images === undefined ? 'video' : 'carousel';
  if ((contentType ?? wanted) !== wanted) {
    throw fieldError('contentType', `must be ${wanted} to match the content of the item`);
  }
  if (images !== undefined) {
    if (metadata.videoQuality !== undefined)
      throw fieldError('videoQuality', 'is allowed only for videos');
    const sources = images.map(({ sourceUrl: url, altText = '' }) => ({
      sourceUrl: url,
      altText: altText === '' ? null : altText,
    }));
    const interval = autoScrollInterval === undefined ? {} : { autoScrollInterval };
    return { source: { images: sources }, metadata: { ...metadata, ...interval } };
  }
  if (sourceUrl === undefined) throw fieldError('sourceUrl', 'or images is required');
  if (autoScrollInterval != null) {
    throw fieldError('autoScrollInterval', 'is allowed only for image carousels');
  }
  return { source: { url: sourceUrl }, metadata };
}

function urlsOf(source: ImportSource): [path: string, url: string][] {
  if ('url' in source) return [['sourceUrl', source.url]];
  return source.images.map(({ sourceUrl }, index) => [`images[${index}].sourceUrl`, sourceUrl]);
}

async function checkUrl({ egress, buckets }: SourceRules, path: string, url: string) {
  if (url.startsWith('s3:')) {
    const problem = buckets.problemOf(url);
    if (problem !== null) throw fieldError(path, problem);
    return;
  }
  try {
    await egress.checkUrl(url, { schemes });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    // If the name can't be resolved right now, the job retries it.
    if (error.failure === 'dns_error' || error.failure === 'timeout') return;
    throw fieldError(path, error.message);
  }
}
