/*
 * A subset of Markdown as a tree, never as HTML: headings, lists, quotes, fenced code, and in a line code, strong, emphasis and links
 * to http and https. Anything else is text as it was written.
 */
export type Inline =
  | { is: 'text'; text: string }
  | { is: 'code'; text: string }
  | { is: 'strong'; of: Inline[] }
  | { is: 'em'; of: Inline[] }
  | { is: 'link'; to: string; of: Inline[] };

export type Block =
  | { is: 'paragraph' | 'heading' | 'quote'; of: Inline[] }
  | { is: 'code'; text: string }
  | { is: 'list'; ordered: boolean; items: Inline[][] };

const DEPTH = 4; // of strong, emphasis and links in each other

const INLINE =
  /`([^`\n]+)`|\*\*(?=\S)([^\n]*?\S)\*\*|\*(?=\S)([^*\n]*?\S)\*|\[([^[\]\n]+)\]\((https?:\/\/[^\s()<>]+)\)|(https?:\/\/[^\s<>()"']+[^\s<>()"'.,;:!?])/;

export function inline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let rest = text;
  while (rest !== '') {
    const found = depth < DEPTH ? INLINE.exec(rest) : null;
    if (!found) {
      out.push({ is: 'text', text: rest });
      break;
    }
    if (found.index > 0) out.push({ is: 'text', text: rest.slice(0, found.index) });
    const [whole, code, strong, em, label, to, bare] = found;
    if (code !== undefined) out.push({ is: 'code', text: code });
    else if (strong !== undefined) out.push({ is: 'strong', of: inline(strong, depth + 1) });
    else if (em !== undefined) out.push({ is: 'em', of: inline(em, depth + 1) });
    else if (to !== undefined) out.push({ is: 'link', to, of: inline(label!, DEPTH) });
    else out.push({ is: 'link', to: bare!, of: [{ is: 'text', text: bare! }] });
    rest = rest.slice(found.index + whole.length);
  }
  return out;
}

const HEADING = /^#{1,6}\s+(.*)$/;
const ITEM = /^\s{0,3}(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

export function markdown(text: string): Block[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const out: Block[] = [];
  let paragraph: string[] = [];
  const flush = () => {
    if (paragraph.length > 0) out.push({ is: 'paragraph', of: inline(paragraph.join('\n')) });
    paragraph = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const item = ITEM.exec(line);
    const heading = HEADING.exec(line);
    if (line.startsWith('```')) {
      flush();
      const end = lines.indexOf('```', i + 1);
      const stop = end < 0 ? lines.length : end;
      out.push({ is: 'code', text: lines.slice(i + 1, stop).join('\n') });
      i = stop;
    } else if (heading) {
      flush();
      out.push({ is: 'heading', of: inline(heading[1]!) });
    } else if (line.startsWith('> ')) {
      flush();
      out.push({ is: 'quote', of: inline(line.slice(2)) });
    } else if (item) {
      flush();
      const last = out.at(-1);
      const ordered = item[1] !== undefined;
      if (last?.is === 'list' && last.ordered === ordered) last.items.push(inline(item[2]!));
      else out.push({ is: 'list', ordered, items: [inline(item[2]!)] });
    } else if (line.trim() === '') flush();
    else paragraph.push(line);
  }
  flush();
  return out;
}
