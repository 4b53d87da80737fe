/* A comment's Markdown as elements: text never becomes HTML. */

import type { JSX } from 'preact';
import { type Block, type Inline, markdown } from '../../model/markdown';

export function Markdown({ text }: { text: string }): JSX.Element {
  return (
    <div class="markdown">
      {markdown(text).map((block, i) => (
        <OneBlock key={i} block={block} />
      ))}
    </div>
  );
}

function OneBlock({ block }: { block: Block }): JSX.Element {
  switch (block.is) {
    case 'code':
      return (
        <pre>
          <code>{block.text}</code>
        </pre>
      );
    case 'list': {
      const items = block.items.map((item, i) => (
        <li key={i}>
          <Line of={item} />
        </li>
      ));
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case 'heading':
      return (
        <p class="strong">
          <Line of={block.of} />
        </p>
      );
    case 'quote':
      return (
        <blockquote>
          <Line of={block.of} />
        </blockquote>
      );
    default:
      return (
        <p>
          <Line of={block.of} />
        </p>
      );
  }
}

function Line({ of }: { of: readonly Inline[] }): JSX.Element {
  return (
    <>
      {of.map((one, i) => {
        if (one.is === 'text') return one.text;
        if (one.is === 'code') return <code key={i}>{one.text}</code>;
        if (one.is === 'strong')
          return (
            <strong key={i}>
              <Line of={one.of} />
            </strong>
          );
        if (one.is === 'em')
          return (
            <em key={i}>
              <Line of={one.of} />
            </em>
          );
        return (
          <a key={i} href={one.to} rel="noopener noreferrer nofollow" target="_blank">
            <Line of={one.of} />
          </a>
        );
      })}
    </>
  );
}
