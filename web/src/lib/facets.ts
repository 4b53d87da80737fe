/* Facets of reports and sessions in the reader's language, by the server's name. */
import { say } from './i18n';

export const FACET_TITLES: Readonly<Record<string, string>> = {
  version: 'Version',
  os: 'Operating system',
  os_version: 'OS version',
  arch: 'Architecture',
  model: 'Model',
  process: 'Process',
  holder: 'Lock held by',
  class: 'Device class',
  channel: 'Channel',
  state: 'State of the app',
  scene: 'Scene set by the app',
  country: 'Country',
};

export function facetTitle(name: string): string {
  const title = FACET_TITLES[name];
  return title ? say(title) : say('Tag {name}', { name: name.replace(/^tag:/, '') });
}
