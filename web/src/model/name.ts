/* Function names, shortened to their distinctive part. */

/*
 * Strip <...>, then (...), then qualifiers, until the name fits in `room` characters. The selector of an Objective-C
 * method is kept, and so is the operator of a C++ one.
 */
export function shorten(name: string, room: number): string {
  if (name.length <= room) return name;
  const objc = /^([-+])\[(\S+) (\S+)\]$/.exec(name);
  if (objc) return cut(`${objc[1]}[${objc[3]}]`, room);
  let short = strip(name, '<', '>');
  if (short.length > room) short = strip(short, '(', ')');
  while (short.length > room) {
    const colons = short.indexOf('::');
    if (colons < 0) break;
    short = short.slice(colons + 2);
  }
  return cut(short === '' ? name : short, room);
}

function cut(name: string, room: number): string {
  if (name.length <= room) return name;
  return room <= 1 ? '' : `…${name.slice(name.length - room + 1)}`;
}

/* Without the text between the brackets, at any depth; the operators < and > stay. */
function strip(name: string, open: string, close: string): string {
  let out = '';
  let depth = 0;
  for (let i = 0; i < name.length; i++) {
    const c = name[i]!;
    if (depth === 0 && name.startsWith('operator', i)) {
      const symbol = /^operator(\(\)|[<>=!+\-*/%&|^~[\]]+)?/.exec(name.slice(i))![0];
      out += symbol;
      i += symbol.length - 1;
    } else if (c === open) depth++;
    else if (c === close && depth > 0) depth--;
    else if (depth === 0) out += c;
  }
  return depth === 0 ? out : name;
}

/* The module of a function without a name: libcart.so of libcart.so+0x1234; '' if there is a name. */
export function namelessModule(name: string): string {
  return /^(.+)\+0x[0-9a-f]+$/.exec(name)?.[1] ?? '';
}

/* The file of a path: /usr/lib/libc.so.6 is libc.so.6. */
export function base(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}
