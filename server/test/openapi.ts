/** The API description as tests read it. */
import { send } from './service.ts';

/** `/openapi.json` with every reference replaced by what it leads to, so that schemas stand alone. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into every part of it
export async function readDescription(url: string): Promise<any> {
  const { body: api } = await send(`${url}/openapi.json`, 'GET');
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref } = value as { $ref?: string };
    if ($ref === undefined) {
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, resolve(inner)]),
      );
    }
    const names = $ref.split('/').slice(1);
    return resolve(names.reduce((part, name) => part[name], api));
  };
  return resolve(api);
}
