/**
 * The webhook portal. The token is in the fragment of the address. Everything is inserted into the
 * page as text: no response is ever parsed as HTML.
 */
const token = location.hash.slice(1);
const status = document.querySelector('#status');
const list = document.querySelector('#webhooks');

async function ask(path, method = 'GET', body) {
  const answer = await fetch(`../v1/webhook-portal/webhooks${path}`, {
    method,
    credentials: 'omit',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const result = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw new Error(result.error?.message ?? `The service answered ${answer.status}.`);
  return result;
}

/** Creates an element with text or children. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A button that is disabled while its action runs. */
function button(text, work) {
  const made = element('button', { type: 'button', textContent: text });
  made.addEventListener('click', async () => {
    made.disabled = true;
    try {
      await work();
    } catch (error) {
      status.textContent = error.message;
    } finally {
      made.disabled = false;
    }
  });
  return made;
}

const moment = (text) =>
  text === null || text === undefined ? '' : new Date(text).toLocaleString();

function healthOf({ status: state, disabledReason, failingSince }) {
  if (state === 'disabled') {
    return disabledReason === 'failing' ? 'Disabled, because it failed for too long' : 'Disabled';
  }
  return failingSince === null ? 'Working' : `Failing since ${moment(failingSince)}`;
}

function webhookSection(webhook) {
  const { id, url, events, description, stats } = webhook;
  const deliveries = element('div');
  const message = element('p', { role: 'status' });
  const since = element('input', { type: 'datetime-local' });
  const dayAgo = new Date(Date.now() - 86_400_000);
  since.value = new Date(dayAgo - dayAgo.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  const isBad = webhook.status === 'disabled' || webhook.failingSince !== null;
  let onlyFailed = false;
  const load = () => showDeliveries(id, deliveries, onlyFailed);
  const failed = element('input', { type: 'checkbox' });
  failed.addEventListener('change', () => {
    onlyFailed = failed.checked;
    load().catch((error) => (status.textContent = error.message));
  });
  const section = element(
    'section',
    {},
    element('h2', { textContent: url }),
    element('p', {
      className: isBad ? 'bad' : '',
      textContent: `${healthOf(webhook)}. ${stats.successfulDeliveries} delivered, ${stats.failedDeliveries} failed.`,
    }),
    element('p', {
      textContent: [events.join(', '), description ?? ''].filter(Boolean).join(' · '),
    }),
    element(
      'div',
      { className: 'bar' },
      element('label', {}, 'Failed since ', since),
      button('Resend failed deliveries', async () => {
        const body = { since: new Date(since.value).toISOString() };
        const { data } = await ask(`/${id}/recover`, 'POST', body);
        message.textContent = `${data.recovered} deliveries are sent again.`;
        await load();
      }),
      button('Replace the secret', async () => {
        const { data } = await ask(`/${id}/rotate-secret`, 'POST');
        const until = moment(data.previousSecretExpiresAt);
        message.replaceChildren(
          'The new secret is shown this once: ',
          element('code', { textContent: data.secret }),
          ` The old one signs as well until ${until}.`,
        );
      }),
      element('label', {}, failed, ' Only failed ones'),
      button('Refresh', load),
    ),
    message,
    deliveries,
  );
  load().catch((error) => (status.textContent = error.message));
  return section;
}

async function showDeliveries(id, place, onlyFailed, cursor = null) {
  const query = new URLSearchParams({ limit: '20' });
  if (onlyFailed) query.set('status', 'failed');
  if (cursor !== null) query.set('cursor', cursor);
  const { data, meta } = await ask(`/${id}/deliveries?${query}`);
  if (cursor === null) place.replaceChildren();
  if (cursor === null && data.length === 0)
    place.append(element('p', { textContent: 'No delivery.' }));
  for (const delivery of data) place.append(deliveryRow(id, delivery));
  const { nextCursor = null } = meta ?? {};
  if (nextCursor === null) return;
  const more = button('More', async () => {
    await showDeliveries(id, place, onlyFailed, nextCursor);
    more.remove();
  });
  place.append(more);
}

function deliveryRow(webhookId, delivery) {
  const { id, event, status: state, statusCode, attempts, lastError, createdAt } = delivery;
  const outcome = statusCode ?? lastError ?? '';
  const summary = element('summary', {
    className: state === 'failed' ? 'bad' : '',
    textContent: `${moment(createdAt)} · ${event} · ${state} ${outcome} · attempts: ${attempts}`,
  });
  const content = element('div');
  const row = element('details', {}, summary, content);
  row.addEventListener('toggle', () => {
    if (row.open && content.childElementCount === 0) {
      showDelivery(webhookId, id, content).catch((error) => (status.textContent = error.message));
    }
  });
  return row;
}

function headerList(title, headers) {
  if (headers === null) return [];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const summary = element('summary', { textContent: title });
  return [element('details', {}, summary, element('pre', { textContent: lines.join('\n') }))];
}

async function showDelivery(webhookId, id, place) {
  const { data } = await ask(`/${webhookId}/deliveries/${id}`);
  const attempts = data.attemptHistory.map(
    ({ startedAt, statusCode, error, response, requestHeaders, responseHeaders }) =>
      element(
        'li',
        { textContent: `${moment(startedAt)}: ${error ?? statusCode ?? 'confirmed'}` },
        ...(response === null || response === ''
          ? []
          : [element('pre', { textContent: response })]),
        ...headerList('Headers of the request', requestHeaders),
        ...headerList('Headers of the answer', responseHeaders),
      ),
  );
  const again = button('Send again', async () => {
    await ask(`/${webhookId}/deliveries/${id}/retry`, 'POST');
    again.replaceWith('It is sent again.');
  });
  place.replaceChildren(
    element('p', {}, element('code', { textContent: id })),
    element('pre', { textContent: JSON.stringify(data.payload, null, 2) }),
    element('ol', {}, ...attempts),
    ...(data.status === 'pending' ? [] : [again]),
  );
}

try {
  if (token === '') throw new Error('The address is incomplete: use the whole link.');
  const { data, meta } = await ask('');
  status.textContent = data.length === 0 ? 'There is no webhook yet.' : '';
  list.before(
    element('p', {
      textContent: `This link works until ${moment(meta.linkExpiresAt)}, unless whoever gave it to you revokes it. Anyone who has it can do what you can do here.`,
    }),
  );
  list.replaceChildren(...data.map(webhookSection));
} catch (error) {
  status.textContent = error.message;
}
