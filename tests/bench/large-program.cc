/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A unit with much debug information: see large-program. */
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
template <int N> struct tag {
	long value;
	bool operator<(const tag &o) const
	{
		return value < o.value;
	}
	bool operator==(const tag &o) const
	{
		return value == o.value;
	}
};
template <int N> struct hash_tag {
	size_t operator()(const tag<N> &t) const
	{
		return t.value * 31 + N;
	}
};
template <int N> long one(unsigned seed)
{
	std::mt19937 r(seed + N);
	std::map<tag<N>, std::string> m;
	std::unordered_map<tag<N>, std::vector<double>, hash_tag<N>> u;
	std::deque<tag<N>> d;
	std::vector<std::shared_ptr<tag<N>>> p;
	for (int i = 0; i < 20; i++) {
		tag<N> t{(long)(r() % 100)};
		m[t] += std::to_string(i);
		u[t].push_back(i);
		d.push_back(t);
		p.push_back(std::make_shared<tag<N>>(t));
	}
	std::sort(d.begin(), d.end());
	std::stable_sort(p.begin(), p.end(), [](auto &a, auto &b) { return *a < *b; });
	std::set<tag<N>> s(d.begin(), d.end());
	std::function<long(long)> f = [&](long x) { return x + (long)s.size(); };
	return f(std::accumulate(p.begin(), p.end(), 0L, [](long a, auto &b) {
		return a + b->value;
	})) + (long)m.size();
}
template <int... N> static long all(unsigned seed, std::integer_sequence<int, N...>)
{
	return (one<N>(seed) + ...);
}
long work(unsigned seed)
{
	return all(seed, std::make_integer_sequence<int, 8>());
}
