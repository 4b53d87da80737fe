/*
 * The user documentation as static pages: dist/docs/NAME.html of docs/NAME.md, and dist/docs/zh/NAME.html of docs/zh/NAME.md.
 * Beside each language's pages lies search.json, which the pages' script (src/docs/page.ts) reads at the first search.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';
import type { Plugin } from 'vite';
import type { Section } from './src/docs/search.ts';

const ROOT = fileURLToPath(new URL('../docs/', import.meta.url));
const SCRIPT = fileURLToPath(new URL('src/docs/page.ts', import.meta.url));

type Language = 'en' | 'zh';

/* Of a language's pages, below docs/ in the tree and in addresses. */
const FOLDER = { en: '', zh: 'zh/' } as const;
/* As HTML names a language. */
const CODE = { en: 'en', zh: 'zh-CN' } as const;

/* The pages in the order of the menu, with their Chinese names. */
const MENU: readonly (readonly [en: string, zh: string, pages: Record<string, string>])[] = [
  ['Begin', '开始', { 'getting-started': '快速上手', 'on-call': '如何阅读一次卡顿', cli: '命令行' }],
  [
    'Connect an app',
    '接入应用',
    {
      'mire-run': '不改程序：mire run',
      android: 'Android',
      apple: 'iOS 与 macOS',
      loops: '支持的循环',
      scripts: '脚本语言',
      import: '导入其他格式',
      delivery: '发送与隐私',
    },
  ],
  [
    'Read the evidence',
    '阅读证据',
    {
      changes: '变化',
      sessions: '会话与比率',
      memory: '内存',
      exits: '退出原因',
      symbols: '符号',
      rules: '归因规则',
      export: '导出',
      glossary: '术语',
    },
  ],
  [
    'Work with issues',
    '处理问题',
    { triage: '状态与指派', alerts: '告警', releases: '发布与可疑提交', assistants: '助手' },
  ],
  [
    'Run the server',
    '运行服务器',
    {
      configuration: '配置',
      access: '登录与权限',
      security: '安全',
      rollout: '灰度',
      metrics: '指标',
      store: '设备上的存储',
    },
  ],
];
const PAGES: readonly string[] = MENU.flatMap(([, , pages]) => Object.keys(pages));
const START = 'getting-started';

const WORDS = {
  en: {
    docs: 'Documentation',
    search: 'Search',
    skip: 'Skip to content',
    pages: 'Pages',
    table: 'Table',
    other: '中文',
  },
  zh: { docs: '文档', search: '搜索', skip: '跳到正文', pages: '页面', table: '表格', other: 'English' },
} as const;

const source = (language: Language, name: string) => `${ROOT}${FOLDER[language]}${name}.md`;
const isIn = (language: Language, name: string) => PAGES.includes(name) && existsSync(source(language, name));
const addressOf = (language: Language, name: string) =>
  `/docs/${isIn(language, name) ? FOLDER[language] : ''}${name === START ? '' : name}`;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
}

/* "The reason, and where to look" -> the-reason-and-where-to-look, as GitHub does it. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

/* Text without marks of Markdown. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*|#]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/* The address of a link in a page: another page of the documentation, an anchor or another site; null: a file of the tree. */
export function leads(language: Language, href: string): string | null {
  if (/^(https?:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const full = posix.normalize(posix.join(language === 'zh' ? 'zh' : '.', path)).replace(/^zh\//, '');
  const name = full.replace(/\.md$/, '');
  return full.endsWith('.md') && isIn('en', name) ? addressOf(language, name) + (anchor ? `#${anchor}` : '') : null;
}

/* A picture of docs/ with its size, which the header of a PNG has. */
function picture(href: string, text: string): string {
  const name = basename(href);
  const header = readFileSync(ROOT + name).subarray(16, 24);
  const size = `width="${header.readUInt32BE(0)}" height="${header.readUInt32BE(4)}"`;
  return `<img src="/docs/${escaped(name)}" alt="${escaped(text)}" ${size} loading="lazy">`;
}

/* A table of cells in HTML. */
function table(label: string, header: readonly string[], rows: readonly string[][]): string {
  const head = header.map((cell) => (cell === '' ? '<td></td>' : `<th scope="col">${cell}</th>`)).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n');
  return `<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>\n`;
}

interface Rendered {
  title: string;
  html: string;
  sections: Section[];
}

export function render(language: Language, name: string, markdown: string): Rendered {
  const seen = new Map<string, number>();
  const sections: Section[] = [];
  let title = '';
  let tables = 0;
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const slug = slugOf(plain(text));
        const times = seen.get(slug) ?? 0;
        seen.set(slug, times + 1);
        const anchor = times > 0 ? `${slug}-${times}` : slug;
        if (depth === 1) title = plain(text);
        sections.push({ page: addressOf(language, name), title, heading: plain(text), anchor, text: '' });
        return `<h${depth} id="${escaped(anchor)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const to = leads(language, href);
        const inner = this.parser.parseInline(tokens);
        if (to === null) return `<span>${inner}</span>`;
        return `<a href="${escaped(to)}"${to.startsWith('http') ? ' rel="noreferrer"' : ''}>${inner}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        return picture(href, text);
      },
      html({ text }: Tokens.HTML | Tokens.Tag) {
        return escaped(text);
      },
      code({ text }: Tokens.Code) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      },
      table({ header, rows }: Tokens.Table) {
        tables++;
        const cells = (row: Tokens.TableCell[]) => row.map((one) => this.parser.parseInline(one.tokens));
        return table(`${WORDS[language].table} ${tables}`, cells(header), rows.map(cells));
      },
    },
  });
  const parsed = marked.lexer(markdown);
  const html = marked.parser(parsed);
  let at = -1;
  for (const token of parsed)
    if (token.type === 'heading') at++;
    else if (at >= 0) sections[at]!.text = `${sections[at]!.text} ${plain(token.raw)}`.trim();
  return { title, html, sections };
}

/* An English page's name in the menu. */
function titleOf(name: string): string {
  return plain(/^# (.+)$/m.exec(readFileSync(source('en', name), 'utf8'))?.[1] ?? name);
}

function menu(language: Language, now: string): string {
  return MENU.map(([en, zh, pages]) => {
    const links = Object.entries(pages).map(([name, chinese]) => {
      const inEnglish = language === 'zh' && !isIn('zh', name) ? ' <small>(英文)</small>' : '';
      const words = language === 'zh' ? chinese : titleOf(name);
      const current = name === now ? ' aria-current="page"' : '';
      return `<li><a href="${addressOf(language, name)}"${current}>${escaped(words)}</a>${inEnglish}</li>`;
    });
    return `<h2>${language === 'zh' ? zh : en}</h2><ul>${links.join('')}</ul>`;
  }).join('\n');
}

function page(language: Language, name: string, content: Rendered, files: { script: string; style: string }): string {
  const words = WORDS[language];
  const other: Language = language === 'zh' ? 'en' : 'zh';
  const there = isIn(other, name) ? addressOf(other, name) : addressOf(other, START);
  return `<!doctype html>
<html lang="${CODE[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(content.title)} · Mire</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/${files.style}">
<script type="module" src="/${files.script}"></script>
</head>
<body data-search="/docs/${FOLDER[language]}search.json">
<a class="skip" href="#content">${words.skip}</a>
<header>
<a class="home" href="/">Mire</a>
<a href="${addressOf(language, START)}">${words.docs}</a>
<form role="search"><input type="search" aria-label="${words.search}" placeholder="${words.search}" autocomplete="off"></form>
<a href="${there}" lang="${CODE[other]}" hreflang="${CODE[other]}">${words.other}</a>
</header>
<div class="columns">
<nav aria-label="${words.pages}">
${menu(language, name)}
</nav>
<main id="content" tabindex="-1">
<div id="found" aria-live="polite"></div>
<article>
${content.html}</article>
</main>
</div>
</body>
</html>
`;
}

export function docs(): Plugin {
  return {
    name: 'docs',
    apply: 'build',
    config: () => ({ build: { rolldownOptions: { input: { index: 'index.html', docs: SCRIPT } } } }),
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const chunk = Object.values(bundle).find((one) => one.type === 'chunk' && one.facadeModuleId === SCRIPT);
        if (chunk?.type !== 'chunk') throw new Error('the script of the documentation was not built');
        const style = [...(chunk.viteMetadata?.importedCss ?? [])][0];
        if (!style) throw new Error('the style of the documentation was not built');
        for (const language of ['en', 'zh'] as const) {
          const folder = `docs/${FOLDER[language]}`;
          const all: Section[] = [];
          for (const name of PAGES) {
            if (!isIn(language, name)) continue;
            const content = render(language, name, readFileSync(source(language, name), 'utf8'));
            all.push(...content.sections);
            const html = page(language, name, content, { script: chunk.fileName, style });
            this.emitFile({
              type: 'asset',
              fileName: `${folder}${name === START ? 'index' : name}.html`,
              source: html,
            });
          }
          this.emitFile({ type: 'asset', fileName: `${folder}search.json`, source: JSON.stringify(all) });
        }
        for (const name of readdirSync(ROOT))
          if (name.endsWith('.png'))
            this.emitFile({ type: 'asset', fileName: `docs/${name}`, source: readFileSync(ROOT + name) });
      },
    },
  };
}
