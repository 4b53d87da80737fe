// A program with the Sentry SDK for Node: app.mjs DSN small|large. A large event is compressed and sent in chunks.
import * as Sentry from '@sentry/node';

const [dsn, size] = process.argv.slice(2);
Sentry.init({ dsn, release: 'org.example.shop@4.3', tracesSampleRate: 1 });
Sentry.setUser({ id: '4711' });
Sentry.setTag('plan', 'trial');
Sentry.addBreadcrumb({ category: 'ui.click', message: 'drew the feed' });

function drawTheFeed(items) {
  return items.first.title;
}

try {
  if (size === 'large') Sentry.setExtra('items', Array.from({ length: 4000 }, (_, i) => `item ${i} ${Math.sin(i)}`).join());
  drawTheFeed({ size });
} catch (error) {
  Sentry.captureException(error);
}
process.exit((await Sentry.flush(60000)) ? 0 : 1);
