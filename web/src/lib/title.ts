/* The title of the page, which is also the text of a copied link. */
import { useEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Mire' : `${title} · Mire`;
  }, [title]);
}
