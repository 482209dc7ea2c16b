// The state of the page as the fragment of its address: #/VIEW/NAME/NAME?parameter=value

const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export function routeOf(fragment) {
  const [path, query = ''] = fragment.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [view, ...names] = path.split('/');
  return {
    view: decoded(view) || 'overview',
    names: names.map(decoded),
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

export function address(view, names = [], params = {}) {
  const path = [view, ...names].map((each) => encodeURIComponent(each)).join('/');
  const set = Object.entries(params).filter(([, value]) => value !== '' && value !== undefined && value !== null);
  const query = new URLSearchParams(set).toString();
  return `#/${path}${query ? `?${query}` : ''}`;
}

// Change parameters of the present view without a new entry in the history.
export function setParams(changes) {
  const { view, names, params } = routeOf(location.hash);
  history.replaceState(null, '', address(view, names, { ...params, ...changes }));
  dispatchEvent(new HashChangeEvent('hashchange'));
}
