import { execFile } from 'node:child_process';
import {
  access,
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';

/** A running browser, or why this machine has none; tests are then skipped with that reason. */
export type LaunchedBrowser =
  | { readonly browser: Browser; readonly reason: null }
  | { readonly browser: null; readonly reason: string };

const unpackTimeoutMs = 120_000;
const launchTimeoutMs = 30_000;
const personsBrowser =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';

/**
 * Starts the Chromium bundled in an npm package, with its own shared libraries and fonts: it needs
 * no installation and works without a network and as root. The caller closes it. Web security stays
 * enabled, so that policies and CORS are tested for real.
 */
export async function launchBrowser(): Promise<LaunchedBrowser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    const machine = `${process.platform}-${process.arch}`;
    return {
      browser: null,
      reason: `no Chromium: the packaged one is for linux-x64, not ${machine}`,
    };
  }
  try {
    const folder = await unpackedChromium();
    const browser = await chromium.launch({
      executablePath: join(folder, 'chromium'),
      headless: true,
      timeout: launchTimeoutMs,
      // The sandbox needs a set-uid helper or user namespaces; only our own pages are loaded.
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--mute-audio',
        '--disable-dev-shm-usage',
        // With its default user agent, it would count as a bot, whose events are ignored.
        `--user-agent=${personsBrowser}`,
      ],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
        FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      },
    });
    return { browser, reason: null };
  } catch (error) {
    return { browser: null, reason: `no Chromium: ${firstLines(error)}` };
  }
}

/**
 * The folder with the unpacked browser. It is unpacked once per version and user under a temporary
 * name, then renamed atomically, so that parallel test files never see a partial copy.
 */
async function unpackedChromium(): Promise<string> {
  const { uid, username } = userInfo();
  const version = await packageVersion();
  const folder = join(tmpdir(), `reelfeed-chromium-${version}-${uid >= 0 ? uid : username}`);
  if (await isOurs(folder, uid)) return folder;
  const fresh = await mkdtemp(`${folder}-`);
  try {
    await unpackInto(fresh);
    await writeFontConfig(fresh, folder);
    await chmod(join(fresh, 'chromium'), 0o700);
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Another test file was faster.
    if (await isOurs(folder, uid)) return folder;
    throw error;
  }
  return folder;
}

/** Someone else may have created a folder with this name; its programs are not run. */
async function isOurs(folder: string, uid: number): Promise<boolean> {
  try {
    const stats = await lstat(folder);
    await access(join(folder, 'fonts.conf'));
    return stats.isDirectory() && (uid < 0 || (stats.uid === uid && (stats.mode & 0o022) === 0));
  } catch {
    return false;
  }
}

/**
 * Runs the package's own unpacking in a child process, because it writes to the temporary folder of
 * its process and includes the libraries only if it detects Amazon Linux.
 */
async function unpackInto(folder: string): Promise<void> {
  const program = `
    const { default: chromium } = await import('@sparticuz/chromium');
    await chromium.executablePath();
  `;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
    timeout: unpackTimeoutMs,
  });
}

/** `fresh` is where the file is written now, `folder` where the fonts will be. */
async function writeFontConfig(fresh: string, folder: string): Promise<void> {
  const cache = join(folder, 'font-cache');
  await mkdir(join(fresh, 'font-cache'));
  await writeFile(
    join(fresh, 'fonts.conf'),
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${join(folder, 'fonts')}</dir><cachedir>${cache}</cachedir></fontconfig>
`,
  );
}

async function packageVersion(): Promise<string> {
  const entry = import.meta.resolve('@sparticuz/chromium');
  const text = await readFile(new URL('../package.json', entry), 'utf8');
  return /"version":\s*"([\w.-]+)"/.exec(text)?.[1] ?? 'unknown';
}

function firstLines(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n').slice(0, 3).join(' ').trim();
}
