/* A page of the documentation: the theme that the dashboard keeps, and the search, whose index is asked for at the first word. */
import './docs.css';
import { find, type Section } from './search';

/* The theme as lib/memory keeps it. That module is bundled with others of the dashboard. */
function kept(): string | null {
  try {
    return localStorage.getItem('mire.theme');
  } catch {
    return null;
  }
}
const theme = kept();
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

const form = document.querySelector('form')!;
const field = form.querySelector('input')!;
const box = document.getElementById('found')!;
const chinese = document.documentElement.lang === 'zh-CN';
let index: Promise<Section[]> | null = null;

function load(): Promise<Section[]> {
  index ??= fetch(document.body.dataset.search!).then((answer) => {
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json() as Promise<Section[]>;
  });
  return index;
}

function element(name: string, text: string, children: Node[] = []): HTMLElement {
  const made = document.createElement(name);
  made.append(text, ...children);
  return made;
}

function row({ section, excerpt }: ReturnType<typeof find>[number]): HTMLElement {
  const link = document.createElement('a');
  link.href = `${section.page}#${section.anchor}`;
  link.textContent = section.heading === section.title ? section.title : `${section.title}: ${section.heading}`;
  return element('li', '', [link, element('p', excerpt)]);
}

async function search(): Promise<void> {
  const words = field.value.trim();
  if (words === '') {
    box.replaceChildren();
    return;
  }
  try {
    const found = find(await load(), words);
    if (words !== field.value.trim()) return;
    const said = chinese ? `“${words}”：${found.length} 处` : `${found.length} for “${words}”`;
    box.replaceChildren(element('h2', said), element('ul', '', found.map(row)));
  } catch {
    index = null;
    box.replaceChildren(element('p', chinese ? '搜索索引无法加载' : 'The index could not be loaded'));
  }
}

field.addEventListener('input', () => void search());
box.addEventListener('click', (event) => {
  if (!(event.target instanceof HTMLAnchorElement)) return;
  field.value = '';
  box.replaceChildren();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  box.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === field || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});
