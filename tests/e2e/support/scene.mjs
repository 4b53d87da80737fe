/* The beginning and the end of nearly every test here. */
import { openBrowser } from './browser.mjs';
import { startServer } from './server.mjs';

/* Play a scene with a mired and a browser of its own, which are gone afterwards; of one that fails the log's end is shown. */
export async function play(scene) {
  const server = await startServer();
  try {
    const browser = await openBrowser();
    try {
      await scene(server, browser);
    } finally {
      await browser.close();
    }
  } catch (error) {
    console.error(server.log.slice(-40).join(''));
    throw error;
  } finally {
    await server.stop();
  }
}
