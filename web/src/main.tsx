/* Starts the page: one root, one click handler, one key handler. */
import { render } from 'preact';
import './style/index.css';
import { preferred, speak } from './lib/i18n';
import { onKey } from './lib/keys';
import { followLinks } from './lib/location';
import { Pages } from './views/pages';

document.addEventListener('click', followLinks);
document.addEventListener('keydown', onKey);
await speak(preferred());
render(<Pages />, document.getElementById('root')!);
