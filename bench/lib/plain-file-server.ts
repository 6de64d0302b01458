/** A minimal file server, with which the service's segments are compared. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

const [port, root = ''] = process.argv.slice(2);
const server = createServer((request, response) => {
  const file = join(root, new URL(request.url ?? '/', 'http://localhost').pathname);
  stat(file).then(
    ({ size }) => {
      response.writeHead(200, { 'content-type': 'video/iso.segment', 'content-length': size });
      createReadStream(file).pipe(response);
    },
    () => response.writeHead(404).end(),
  );
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'));
