/* Search in the sections of the documentation: each word must be in a section; words in headings count more. Pure. */

export interface Section {
  page: string;
  title: string;
  heading: string;
  anchor: string;
  text: string;
}

const MOST = 12;
const BEFORE = 40;
const AROUND = 160;

function score(section: Section, words: readonly string[]): number {
  const title = section.title.toLowerCase();
  const heading = section.heading.toLowerCase();
  const text = section.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const parts = text.split(word).length - 1;
    const points = (heading.includes(word) ? 20 : 0) + (title.includes(word) ? 10 : 0) + Math.min(parts, 9);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

/* The text around the first word that is in it. */
function excerptOf(text: string, words: readonly string[]): string {
  const at = words.map((word) => text.toLowerCase().indexOf(word)).find((i) => i >= 0) ?? 0;
  const from = Math.max(0, at - BEFORE);
  return `${from > 0 ? '…' : ''}${text.slice(from, from + AROUND)}${from + AROUND < text.length ? '…' : ''}`;
}

/* The best sections first. Chinese words need no blanks between them and any other sign: they are looked for as they are. */
export function find(sections: readonly Section[], asked: string): { section: Section; excerpt: string }[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return sections
    .map((section) => ({ section, points: score(section, words) }))
    .filter((one) => one.points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, MOST)
    .map(({ section }) => ({ section, excerpt: excerptOf(section.text, words) }));
}
