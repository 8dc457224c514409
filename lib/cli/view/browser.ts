/** The browser of the person at the terminal. */
import { spawn } from 'node:child_process';

/** The command of each platform that opens a URL in the browser; others have xdg-open. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  // `start` takes its first quoted word for the title of a window.
  win32: ['cmd', '/c', 'start', '""'],
};

/** Opens a URL. Where there is no browser nothing happens: the URL is on the screen. */
export function openBrowser(url: string): void {
  const [file, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(file, [...args, url], { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
